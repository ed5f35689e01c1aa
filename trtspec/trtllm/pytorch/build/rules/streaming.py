"""Whether requests that stream get all of their output from the release."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.asked_requests import (
    asked_for,
    asked_values,
    asked_where,
    workload_controls,
)
from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.installation import Installation

_HARMONY_FAMILY = "gpt_oss"
_HARMONY_SOURCE = "https://github.com/NVIDIA/TensorRT-LLM/pull/11488"


def streams_are_whole(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of streams that can lose their last tokens to the adapter of gpt-oss.

    Its answer ends with the chunk that has the end token, and speculation brings more
    tokens with that one. No release is known to have the fix: its request was closed.
    """
    streamed = workload_controls(subject).get("stream")
    target = subject.target
    if streamed is None or target is None or target.family != _HARMONY_FAMILY:
        return
    if subject.recipe.speculation.method == "none":
        return
    yield Finding(
        "request-stream",
        "warning",
        asked_where(subject, streamed),
        f"{asked_for(streamed)}, with {subject.recipe.speculation.method} on a "
        f"target of family {target.family}",
        "the last tokens of a stream were lost where they came in the same step as "
        "the end token; whether this release has the fix is not established",
        "compare streamed with unstreamed answers before you rely on it",
        source=_HARMONY_SOURCE,
        values=asked_values(streamed),
    )


def stream_options_have_a_stream(
    _: Installation, subject: Subject
) -> Iterator[Finding]:
    """Refuse options of a stream in a workload that never streams."""
    asked = workload_controls(subject)
    options = asked.get("stream_options")
    if options is None or "stream" in asked:
        return
    yield Finding(
        "request-refused",
        "blocking",
        asked_where(subject, options),
        f"{asked_for(options)}, and no request has stream: true",
        "trtllm-serve refuses stream_options without stream",
        "write stream: true beside it, or leave it out",
        source="tensorrt_llm/serve/openai_protocol.py",
        values=asked_values(options),
    )
