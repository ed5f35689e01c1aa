"""A head's configuration is changed only where TensorRT-LLM reads it otherwise."""

import json

import pytest
from packaging.version import Version

from tests.models.drafters import EAGLE3_CONFIG, write_eagle3
from tests.models.tiny import HIDDEN, ROWS
from trtspec.models.drafter import describe_drafter
from trtspec.models.eagle3_head import needed_changes, unread_layers

FAMILIES = ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"]
STABLE, NEWEST = Version("1.2.1"), Version("1.4.0rc4")


def changes(directory, version=STABLE):
    info = describe_drafter(directory, "eagle3")
    return {change.key: (change.old, change.new) for change in needed_changes(info)}


@pytest.mark.parametrize("version", FAMILIES)
@pytest.mark.parametrize("pickled", [True, False])
def test_a_complete_configuration_stays(tmp_path, version, pickled):
    assert changes(write_eagle3(tmp_path, pickled=pickled), version) == {}


@pytest.mark.parametrize("version", FAMILIES)
def test_the_drafts_vocabulary_is_taken_from_the_table(tmp_path, version):
    head = write_eagle3(tmp_path, draft_vocab_size=None)
    assert changes(head, version) == {"draft_vocab_size": (None, ROWS // 2)}


def test_a_whole_vocabulary_is_named_too_as_the_key_tells_a_head(tmp_path):
    head = write_eagle3(tmp_path, drafted=ROWS, table=False, draft_vocab_size=None)
    assert changes(head) == {"draft_vocab_size": (None, ROWS)}


def test_null_for_a_whole_vocabulary_is_enough(tmp_path):
    head = write_eagle3(tmp_path, drafted=ROWS, table=False, draft_vocab_size=None)
    config = {**EAGLE3_CONFIG, "draft_vocab_size": None}
    (head / "config.json").write_text(json.dumps(config))
    assert changes(head) == {}


def test_another_width_of_the_target_is_named(tmp_path):
    head = write_eagle3(tmp_path, target=12, embedding=True)
    assert changes(head) == {"target_hidden_size": (None, 12)}
    named = write_eagle3(tmp_path, target=12, embedding=True, target_hidden_size=12)
    assert changes(named) == {}


def test_a_null_width_is_replaced(tmp_path):
    head = write_eagle3(tmp_path)
    config = {**EAGLE3_CONFIG, "target_hidden_size": None}
    (head / "config.json").write_text(json.dumps(config))
    assert changes(head) == {"target_hidden_size": (None, HIDDEN)}


def test_the_targets_number_of_layers_is_corrected(tmp_path):
    head = write_eagle3(tmp_path, num_hidden_layers=32)
    assert changes(head) == {"num_hidden_layers": (32, 1)}
    pickled = write_eagle3(tmp_path / "b", pickled=True, num_hidden_layers=32)
    assert changes(pickled) == {}


def test_each_change_says_why(tmp_path):
    head = write_eagle3(tmp_path, draft_vocab_size=None)
    (change,) = needed_changes(describe_drafter(head, "eagle3"))
    assert "d2t is not loaded" in change.why


@pytest.mark.parametrize(
    ("prefix", "version", "is_read"),
    [
        ("midlayer.", Version("1.0.0"), True),
        ("layers.", STABLE, False),
        ("layers.", NEWEST, True),
        ("model.layers.", NEWEST, False),
    ],
)
def test_names_of_layers_are_read_as_the_sources_show(
    tmp_path, prefix, version, is_read
):
    info = describe_drafter(write_eagle3(tmp_path, prefix=prefix), "eagle3")
    assert (unread_layers(info, version) == "") is is_read
