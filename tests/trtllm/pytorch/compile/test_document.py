"""The YAML as it is written: it reads back, and says why on every line."""

from __future__ import annotations

import pytest
import yaml
from packaging.version import Version

from tests.trtllm.pytorch.compile.golden import ROWS
from tests.trtllm.pytorch.compile.recipes import EAGLE3, VERSIONS, compiled
from trtspec.trtllm.pytorch.compile.document import render
from trtspec.trtllm.pytorch.settings import LlmArgs, Setting


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_written_reads_back_the_same(row, version):
    made = compiled(version, ROWS[row][0])
    text = render(made.args, ["TensorRT-LLM"])
    assert yaml.safe_load(text) == made.args.to_dict()
    assert max(map(len, text.splitlines())) <= 100


def test_a_document_for_1_2_reads_like_this():
    made = compiled("1.2.1", {**EAGLE3, "draft_length": {8: 4, 32: 2}})
    lines = render(made.args, ["For TensorRT-LLM 1.2.1", ""]).splitlines()
    assert lines[:5] == [
        "# For TensorRT-LLM 1.2.1",
        "#",
        "speculative_config:",
        "  decoding_type: Eagle                        # EAGLE-3",
        "  max_draft_len: 4                            # most tokens drafted per step",
    ]
    assert (
        "  draft_len_schedule: {1: 4, 9: 2, 33: 0}     "
        "# from so many requests on: so many tokens"
    ) in lines


def test_a_long_reason_stands_above_its_line():
    settings = (Setting("a", (Setting("b", 1, "x" * 60),)),)
    args = LlmArgs(Version("1.2.1"), settings)
    assert render(args).splitlines() == ["a:", f"  # {'x' * 60}", "  b: 1"]


def test_odd_values_read_back():
    values = {
        "a": "yes",
        "b": "null",
        "c": "1e3",
        "d": "a: b # c",
        "e": None,
        "f": ({"g": ("x", True)},),
        "h": {},
        "i": 1e-05,
        "j": "x" * 300,
        "k": (),
        "l": "two\nlines",
    }
    settings = tuple(Setting(key, value, "odd") for key, value in values.items())
    read = yaml.safe_load(render(LlmArgs(Version("1.2.1"), settings)))
    assert read == {**values, "f": [{"g": ["x", True]}], "k": []}
