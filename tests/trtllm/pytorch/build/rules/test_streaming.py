"""Streams that can lose text are told before anything is served."""

import json
from dataclasses import replace

import pytest

from tests.trtllm.pytorch.build.rules.findings import found, only, subject_of
from trtspec.trtllm.pytorch.build.rules.streaming import (
    stream_options_have_a_stream,
    streams_are_whole,
)


def subject(tmp_path, request, method="eagle3", family="gpt_oss"):
    made = subject_of(tmp_path, method, workload=True)
    (made.base / "prompts.jsonl").write_text(json.dumps({"prompt": "a", **request}))
    return replace(made, target=replace(made.target, family=family))


def test_a_stream_of_gpt_oss_with_drafts_can_lose_its_end(tmp_path):
    finding = only(streams_are_whole, subject(tmp_path, {"stream": True}))
    assert (finding.rule, finding.severity) == ("request-stream", "warning")
    assert "11488" in finding.source


@pytest.mark.parametrize(
    ("request_", "method", "family"),
    [
        ({"stream": False}, "eagle3", "gpt_oss"),
        ({"stream": True}, "none", "gpt_oss"),
        ({"stream": True}, "eagle3", "llama"),
    ],
)
def test_other_streams_are_whole(tmp_path, request_, method, family):
    assert not found(streams_are_whole, subject(tmp_path, request_, method, family))


def test_options_of_a_stream_need_one(tmp_path):
    options = {"stream_options": {"include_usage": True}}
    finding = only(stream_options_have_a_stream, subject(tmp_path, options))
    assert (finding.rule, finding.severity) == ("request-refused", "blocking")
    assert finding.where.endswith("prompts.jsonl:1")
    streaming = subject(tmp_path, options | {"stream": True})
    assert not found(stream_options_have_a_stream, streaming)
