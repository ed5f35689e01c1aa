"""The tables between a drafter's and the target's vocabulary are read and judged."""

import numpy as np
import pytest

from tests.models.drafters import write_eagle3, write_medusa
from tests.models.tiny import ROWS
from tests.models.vocabularies import set_tables
from trtspec.models.draft_vocabulary import DraftVocabulary, read_draft_vocabulary
from trtspec.models.drafter import describe_drafter

DRAFTED = ROWS // 2
EVERY_SECOND = list(range(DRAFTED))  # token i is the target's i + i


def head(directory, offsets=EVERY_SECOND, marked=None, **more):
    write_eagle3(directory)
    set_tables(directory, offsets, marked, **more)
    return describe_drafter(directory, "eagle3")


def marks(*ids):
    return [index in ids for index in range(ROWS)]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16])
def test_offsets_lead_from_drafted_tokens_to_the_targets(tmp_path, dtype):
    found = read_draft_vocabulary(head(tmp_path, dtype=dtype))
    assert found.ids == tuple(range(0, ROWS, 2))
    assert found.marked is None
    assert found.share(ROWS) == 0.5
    assert found.in_order
    assert found.outside(ROWS) == found.duplicates == ()


def test_marked_ids_are_those_that_the_second_table_names(tmp_path):
    info = head(tmp_path, marked=marks(0, 2, 4))
    assert read_draft_vocabulary(info).marked == {0, 2, 4}


def test_a_prefix_before_the_tables_name_is_kept(tmp_path):
    found = read_draft_vocabulary(head(tmp_path, name="model.d2t"))
    assert found.name == "model.d2t"
    assert len(found.ids) == DRAFTED


def test_tables_that_cannot_be_read_are_none(tmp_path):
    floats = head(tmp_path / "floats", dtype=np.float16)
    assert read_draft_vocabulary(floats) is None
    pickled = write_eagle3(tmp_path / "pickled", pickled=True)
    assert read_draft_vocabulary(describe_drafter(pickled, "eagle3")) is None
    medusa = write_medusa(tmp_path / "medusa")
    assert read_draft_vocabulary(describe_drafter(medusa, "medusa")) is None


@pytest.mark.parametrize(
    ("offsets", "outside"),
    [((0, 0), ()), ((0, 15), (1,)), ((-1, 0), (0,)), ((16, -2), (0, 1))],
)
def test_ids_that_the_target_does_not_have_are_found(offsets, outside):
    assert DraftVocabulary(offsets).outside(16) == outside


def test_an_id_that_two_tokens_lead_to_is_found_once():
    found = DraftVocabulary((3, 2, 1, 0))
    assert found.duplicates == (3,)
    assert not found.in_order
    assert found.share(4) == 0.25


@pytest.mark.parametrize(
    ("offsets", "marked", "holds_ids"),
    [
        ((2, 5, 9), {2, 5, 9}, True),
        ((2, 5, 9), {2, 6, 11}, False),
        ((2, 5, 9), None, False),
        ((2, 5, 15), None, True),
        ((0, 0, 0), {0, 1, 2}, False),
        ((0, 1, 2), {0, 2, 4}, False),
        ((0, 20), {0, 20}, False),
    ],
)
def test_ids_in_place_of_offsets_are_told_by_marks_or_range(offsets, marked, holds_ids):
    tables = DraftVocabulary(offsets, None if marked is None else frozenset(marked))
    assert tables.holds_ids(16) == holds_ids
