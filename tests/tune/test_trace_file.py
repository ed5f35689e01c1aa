"""A trace is read back as it was, or refused with its line."""

from __future__ import annotations

import pytest

from tests.tune.made import trace
from trtspec.errors import UsageError
from trtspec.tune.trace import PromptTrace
from trtspec.tune.trace_file import (
    TraceHead,
    TraceSet,
    read_traces,
    require_same,
    write_traces,
)

HEAD = TraceHead(
    name="toy",
    speculation={"method": "ngram", "draft_length": 4},
    cut_anywhere=True,
    target_sha256="a" * 64,
    prompts_sha256="b" * 64,
    output_tokens=9,
    sampling={"temperature": 0.0},
    dtype="float32",
)
TREE = PromptTrace(
    prompt_id="t",
    category="code",
    prompt_tokens=2,
    limit=4,
    emitted=3,
    offered=(2, 2),
    accepted=(1, 0),
    drafted=(5, 5),
    verified=(6, 6),
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ngram.jsonl"
    write_traces(path, TraceSet(HEAD, (trace([1, 0, 2], limit=9), TREE)))
    return path


def test_it_is_read_back_as_it_was(file):
    assert read_traces(file) == TraceSet(HEAD, (trace([1, 0, 2], limit=9), TREE))


def test_no_partial_file_is_left(file):
    assert [p.name for p in file.parent.iterdir()] == ["ngram.jsonl"]


@pytest.mark.parametrize("text", ["", HEAD.model_dump_json(by_alias=True)])
def test_an_empty_trace_is_refused(file, text):
    file.write_text(text)
    with pytest.raises(UsageError, match="empty"):
        read_traces(file)


@pytest.mark.parametrize(
    ("line", "replaced", "by"),
    [
        (1, "trtspec/trace/v1", "trtspec/trace/v0"),
        (2, '"accepted":[1,0,2]', '"accepted":[9,0,2]'),
        (2, '"accepted":[1,0,2]', '"accepted":[1,0]'),
        (3, '"emitted":3', '"emitted":30'),
        (3, '"verified":[6,6]', '"verified":[6]'),
    ],
)
def test_a_line_that_cannot_be_is_named(file, line, replaced, by):
    lines = file.read_text().splitlines()
    assert replaced in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(replaced, by)
    file.write_text("\n".join(lines))
    with pytest.raises(UsageError) as error:
        read_traces(file)
    assert error.value.problems[0].where == f"{file}:{line}"


def test_a_truncated_file_is_refused(file):
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(UsageError, match="the trace"):
        read_traces(file)


def test_what_is_not_text_is_refused(file):
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        read_traces(file)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("target_sha256", "c" * 64),
        ("draft_sha256", "d" * 64),
        ("prompts_sha256", "e" * 64),
        ("speculation", {"method": "ngram", "draft_length": 8}),
        ("output_tokens", 8),
        ("sampling", {"temperature": 0.7}),
        ("dtype", "bfloat16"),
    ],
)
def test_a_trace_of_something_else_is_refused(key, value):
    wanted = HEAD.model_copy(update={key: value})
    with pytest.raises(UsageError, match=key) as error:
        require_same(HEAD, wanted, "file")
    assert len(error.value.problems) == 1


def test_the_engine_does_not_matter():
    require_same(HEAD, HEAD.model_copy(update={"engine": {"device": "cuda"}}), "file")
    require_same(HEAD, HEAD.model_copy(update={"name": "other"}), "file")
