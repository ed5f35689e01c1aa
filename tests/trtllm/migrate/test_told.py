"""A change is told in one line that an engineer in a hurry understands."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from trtspec.trtllm.migrate.change import (
    Change,
    added,
    blocked,
    converted,
    removed,
    renamed,
    warned,
)
from trtspec.trtllm.migrate.told import as_json, counted, table

KEY = ("speculative_config", "key")
ELSEWHERE = Change("renamed", ("old", "key"), 1, 1, "why", ("new", "key"))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (converted(KEY, {1: 4, 9: 2}, {8: 4}, "why"), "key: {1: 4, 9: 2} -> {8: 4}"),
        (renamed(KEY, "x", "name", "why"), "speculative_config.key -> name: x"),
        (removed(KEY, False, "why"), "speculative_config.key: false"),
        (added(KEY, True, "why"), "speculative_config.key: true"),
        (warned(KEY, 3, "why"), "speculative_config.key: 3"),
        (blocked(KEY, 3, "why"), "speculative_config.key: 3"),
        (ELSEWHERE, "old.key -> new.key: 1"),
    ],
)
def test_key_and_values_stand_in_the_first_line(change, line):
    ((kind, lines),) = table([change], 80)
    assert kind == change.kind
    assert lines[0].startswith(change.kind)
    assert lines[0].endswith(f"{line}: why")


def test_a_reason_that_does_not_fit_in_the_line_stands_below():
    change = replace(removed(KEY, False, "why it is gone " * 3), line=7)
    ((_, lines),) = table([change], 60)
    assert lines[0] == "removed    speculative_config.key: false (line 7)"
    assert lines[1].strip().startswith("why it is gone")


def test_the_reason_is_wrapped_and_indented():
    ((_, lines),) = table([removed(KEY, 1, "word " * 40)], 60)
    assert max(map(len, lines[1:])) <= 60
    assert len({len(line) - len(line.lstrip()) for line in lines[1:]}) == 1


def test_changes_are_counted_by_kind():
    assert counted([removed(KEY, 1, ""), blocked(KEY, 1, "")]) == "1 blocked, 1 removed"
    assert counted([]) == "no changes"


def test_json_tells_null_from_nothing():
    document = json.loads(json.dumps(as_json(added(KEY, None, "why"))))
    assert document == {
        "kind": "added",
        "path": list(KEY),
        "reason": "why",
        "line": None,
        "new": None,
    }
    assert as_json(ELSEWHERE)["becomes"] == ["new", "key"]
