"""Where a recipe begins: parameters that the method takes, with who says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.models.drafters import write_medusa
from trtspec.advise.drafters import Drafter
from trtspec.advise.starting_points import (
    METHODS_TO_START,
    room_for_drafts,
    speculation,
    starting_point,
)
from trtspec.methods.catalogue import METHODS

WITHOUT_START = {"none", "user", "auto"}


def begin(method, drafter=None, backend="tensorrt"):
    return speculation(method, drafter, starting_point(method, drafter, backend))


def any_drafter(method):
    kind = METHODS[method].drafter_kind
    if kind is None or method == "mtp":
        return None
    return Drafter(method, "./drafter", "published")


def test_every_method_but_those_without_a_drafter_of_ours_has_a_start():
    assert set(METHODS_TO_START) == METHODS.keys() - WITHOUT_START


@pytest.mark.parametrize("method", METHODS_TO_START)
def test_a_start_is_valid_and_has_a_source(method):
    point = starting_point(method, any_drafter(method), "tensorrt")
    assert point.source.startswith("https://")
    assert set(point.comments) <= set(point.keys)
    assert room_for_drafts(begin(method, any_drafter(method))) > 1


@pytest.mark.parametrize(
    ("method", "room"),
    [("ngram", 4), ("eagle3", 4), ("pard", 8), ("medusa", 64), ("eagle", 68)],
)
def test_drafts_need_room(method, room):
    assert room_for_drafts(begin(method, any_drafter(method))) == room


@pytest.mark.parametrize(
    ("heads", "taken", "nodes"), [(1, 1, 10), (2, 2, 38), (3, 3, 61), (4, 4, 63)]
)
def test_the_tree_of_medusa_is_as_deep_as_there_are_heads(
    tmp_path, heads, taken, nodes
):
    write_medusa(tmp_path / "m", heads=heads)
    drafter = Drafter("medusa", "./m", "given", tmp_path / "m")
    section = begin("medusa", drafter, "reference")
    assert section["num_heads"] == taken
    method = METHODS["medusa"].model_validate(section)
    assert method.shape.nodes == nodes
    assert method.shape.depth == taken


def test_five_heads_keep_the_published_tree_of_four_levels(tmp_path):
    write_medusa(tmp_path / "m", heads=5)
    drafter = Drafter("medusa", "./m", "given", tmp_path / "m")
    section = begin("medusa", drafter, "reference")
    assert (section["num_heads"], section["tree"]) == (4, "mc_sim_7b_63")


def test_heads_that_cannot_be_read_leave_the_example(tmp_path):
    drafter = Drafter("medusa", "./m", "given", Path(tmp_path))
    assert begin("medusa", drafter)["num_heads"] == 4
