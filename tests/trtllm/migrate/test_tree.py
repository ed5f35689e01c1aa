"""What is drafted as a tree stays one, and the keys of one say what they do without."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import about, eagle3, move, spec_of
from trtspec.trtllm.facts.families import newest_of
from trtspec.trtllm.migrate.vendor import migrate_vendor
from trtspec.trtllm.versions import parse


def test_a_dynamic_tree_stays_on_main_and_is_blocked_before():
    more = {
        "use_dynamic_tree": True,
        "dynamic_tree_max_topK": 4,
        "max_total_draft_tokens": 12,
    }
    spec = eagle3("main", **more)
    assert spec_of(move(spec, "main", "main")) == spec
    assert about(move(spec, "main", "1.2"), "use_dynamic_tree", "blocked")
    early = eagle3("1.2", use_dynamic_tree=True, dynamic_tree_max_topK=4)
    assert spec_of(move(early, "1.2", "main")) == eagle3("main")


def test_tokens_that_main_verifies_on_a_chain_stay_unless_they_say_nothing():
    more = eagle3("main", max_total_draft_tokens=6)
    moved = move(more, "main", "main")
    assert spec_of(moved) == more
    (change,) = about(moved, "max_total_draft_tokens", "warned")
    assert "verifies so many tokens per step" in change.reason
    same = eagle3("main", max_total_draft_tokens=4)
    assert spec_of(move(same, "main", "main")) == eagle3("main")


@pytest.mark.parametrize(
    ("source", "written_for", "kept"),
    [("1.2", None, True), ("main", "1.3.0rc22", True), ("main", "1.4.0rc4", False)],
)
def test_children_without_a_tree_are_asked_about_where_they_may_have_made_one(
    source, written_for, kept
):
    values = {"speculative_config": eagle3(source, dynamic_tree_max_topK=4)}
    start = parse(written_for) if written_for else None
    moved = migrate_vendor(values, newest_of("main"), source, None, start)
    assert ("dynamic_tree_max_topK" in spec_of(moved)) is kept
    told = about(moved, "dynamic_tree_max_topK", "warned")
    assert any("add use_dynamic_tree: true" in c.reason for c in told) is kept
