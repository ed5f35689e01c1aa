"""A vendor's file is read as ``yaml.safe_load`` reads it, with the line of each key."""

from __future__ import annotations

import pytest
import yaml

from trtspec.errors import UsageError
from trtspec.trtllm.migrate.document import read_vendor, render
from trtspec.trtllm.migrate.vendor_yaml import parse_vendor_yaml

TEXT = """\
max_num_tokens: 8_192
max_batch_size: 010
enable_chunked_prefill: yes
disable_overlap_scheduler: off
timeout: 1:30
fraction: 1e3
base: &base
  dtype: auto
kv_cache_config:
  <<: *base
  enable_block_reuse: On
speculative_config:
  draft_len_schedule: {1: 3, 010: 1}
lists: [010, {a: no}]
"""


def test_every_value_is_what_tensorrt_llm_reads():
    assert parse_vendor_yaml(TEXT, "x").value == yaml.safe_load(TEXT)


def test_lines_are_kept():
    lines = parse_vendor_yaml(TEXT, "x").lines
    assert lines["max_batch_size",] == 2
    assert lines["kv_cache_config", "enable_block_reuse"] == 11
    assert lines["kv_cache_config", "dtype"] == 8
    assert lines["speculative_config", "draft_len_schedule", 8] == 13


def test_numbers_that_are_not_what_they_look_like_are_named():
    surprises = parse_vendor_yaml(TEXT, "x").surprises
    assert "max_batch_size: 010 is 8 to TensorRT-LLM (YAML 1.1)" in surprises
    assert any(text.startswith("timeout: 1:30 is 90") for text in surprises)
    assert any("draft_len_schedule: a key is 8" in text for text in surprises)
    assert len(surprises) == 4
    assert parse_vendor_yaml("a: 8\nb: {8: 4}\nc: 0.5\n", "x").surprises == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a: 1\nb: 2026-01-01\n", "2026-01-01 is a date in YAML 1.1"),
        ("a: 1\nb: 2026-13-01\n", "cannot be read as YAML 1.1"),
        ("a: 1\nyes: 1\n", "yes is no word and no whole number"),
        ("a: 1\nb: =\n", "could not determine a constructor"),
        ("a: 1\na: 2\n", "given a second time"),
        ("a: 1\nb: !!python/object/apply:os.getpid []\n", "!!python/object/apply:os"),
        ("a: 1\nb: !!python/name:os.getpid\n", "the tag !!python/name:os.getpid"),
        ("a: 1\nb: !ours {c: 1}\n", "the tag !ours is not one of plain YAML"),
        ("a: 1\nb: !!set {c}\n", "the tag !!set"),
        ("a: 1\nb: !<str> {c: 1}\n", "the tag str"),
        ("a: 1\nb: !!seq {c: 1}\n", "the tag !!seq does not fit"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_line(text, what):
    with pytest.raises(UsageError) as caught:
        parse_vendor_yaml(text, "args.yaml")
    (problem,) = caught.value.problems
    assert what in problem.what
    assert problem.where == "args.yaml:2"


def test_tags_of_plain_yaml_are_read():
    text = "a: !!str 5\nb: ! x\nc: !!map {d: !!seq [1]}\n"
    assert parse_vendor_yaml(text, "x").value == yaml.safe_load(text)


def test_what_is_written_reads_the_same_in_both():
    read = read_vendor(TEXT, "x")
    text = render(read.values, (), ())
    assert yaml.safe_load(text) == read.values
    assert "max_batch_size: 8\n" in text
    assert "enable_chunked_prefill: true" in text
    assert 'fraction: "1e3"' in text


def test_two_keys_that_share_a_map_do_not_share_its_changes():
    value = parse_vendor_yaml("a: &a {b: 1}\nc: *a\n", "x").value
    assert value["a"] == value["c"]
    assert value["a"] is not value["c"]
