"""Files are read with their lines, and written so that each change explains itself."""

from __future__ import annotations

import pytest
import yaml

from trtspec.errors import UsageError
from trtspec.trtllm.migrate.change import Change, converted, removed, renamed
from trtspec.trtllm.migrate.document import is_recipe, read_vendor, render

VENDOR = "max_batch_size: 8\nspeculative_config:\n  decoding_type: MTP\n"


def test_a_recipe_is_recognised_by_its_schema():
    assert is_recipe("schema: trtspec/v1\n", "x")
    assert not is_recipe(VENDOR, "x")


def test_keys_have_their_lines():
    read = read_vendor(VENDOR, "x")
    assert read.lines["speculative_config", "decoding_type"] == 3
    assert not read.has_comments


def test_whole_numbers_as_keys_stay_numbers():
    text = "speculative_config:\n  draft_len_schedule: {1: 4, 9: 2} # why\n"
    read = read_vendor(text, "x")
    assert read.values["speculative_config"] == {"draft_len_schedule": {1: 4, 9: 2}}
    assert read.has_comments


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no map of keys"),
        ("- a\n", "no map of keys"),
        ("speculative_config: MTP\n", "speculative_config is no map"),
        ("a: 1\na: 2\n", "given a second time"),
        ("a: [1\n", "not closed"),
    ],
)
def test_what_is_no_configuration_is_refused_with_its_place(text, what):
    with pytest.raises(UsageError, match=what) as caught:
        read_vendor(text, "args.yaml")
    assert caught.value.problems[0].where.startswith("args.yaml:")


def test_each_change_stands_above_its_line_and_what_is_gone_below():
    values = {"a": 2, "section": {"new": "x", "kept": [1, 2]}}
    changes = (
        converted(("a",), 1, 2, "more"),
        renamed(("section", "old"), "x", "new", "renamed in 1.2"),
        removed(("section", "gone"), True, "no effect"),
    )
    assert render(values, changes, ("top",)).splitlines() == [
        "# top",
        "# was a: 1; more",
        "a: 2",
        "section:",
        "  # was old: x; renamed in 1.2",
        "  new: x",
        "  kept: [1, 2]",
        "  # removed gone: true; no effect",
    ]


def test_what_is_removed_with_its_section_is_told_nevertheless():
    changes = (removed(("section", "gone"), 1, "no effect"),)
    assert "removed gone: 1" in render({"a": 1}, changes, ())


def test_a_section_that_becomes_a_value_is_told_above_it():
    change = Change("converted", ("use", "x"), False, None, "off", ("graphs",))
    assert render({"graphs": None}, (change,), ()).splitlines() == [
        "# was use.x: false; off",
        "graphs: null",
    ]


@pytest.mark.parametrize(
    "values",
    [
        {"a": "on", "b": "1.10", "c": "null", "d": "2024-01-01"},
        {"schedule": {8: 4, 32: 2}, "lists": [[0], [0, 1]]},
        {"f": 0.85, "g": 1e-05, "n": None, "t": True, "e": {}},
        {"nested": {"list": [{"a": 1}]}},
    ],
)
def test_tensorrt_llm_reads_what_was_meant(values):
    # its own loader is PyYAML's, which follows YAML 1.1
    assert yaml.safe_load(render(values, (), ("heading",))) == values


def test_long_reasons_are_wrapped_and_stay_comments():
    change = converted(("a",), 1, 2, "word " * 60)
    lines = render({"a": 2}, (change,), ()).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 96
    assert all(line.startswith("#") for line in lines[:-1])
