"""Whether replies are what a bare runner gives, and what was seen on the way."""

from __future__ import annotations

import math
from collections import Counter

from tests.serve.byte_toys import END, byte_tokenizer
from tests.serve.exchange.asking import Ask
from tests.serve.replies import Read, Reply
from trtspec.run import Completion

LOGPROBS_AGREE = 1e-4


def judge(ask: Ask, streamed: Reply, whole: Reply, alone, seen: Counter) -> None:
    """Compare a request's two replies with the chunks of a bare runner."""
    for reply in (streamed, whole):
        assert reply.status == 200, reply.error
        assert reply.error is None
        assert reply.ended
        assert len(reply.answers) == ask.n
    for one, other, chunks in zip(streamed.answers, whole.answers, alone, strict=True):
        done = chunks[-1].completion
        _judge_answer(ask, one, done)
        _judge_answer(ask, other, done)
        assert one.prompt == other.prompt
        _judge_logprobs(ask, one, other, chunks)
        _note(ask, one, seen)
    usage = _usage(alone)
    assert streamed.usage == usage
    assert whole.usage == usage


def _judge_answer(ask: Ask, read: Read, done: Completion) -> None:
    assert read.tokens == done.tokens
    assert read.text == done.text == expected_text(ask, done.tokens)
    assert read.finish == done.finish_reason
    figures = read.figures
    assert (figures["steps"], figures["drafted"], figures["accepted"]) == (
        done.steps,
        done.drafted,
        done.accepted,
    )
    assert figures["lossy"] == done.lossy == ""


def expected_text(ask: Ask, tokens: list[int]) -> str:
    """The tokens' text by the tokenizer alone, cut at the first stop."""
    text = byte_tokenizer().decode(tokens, skip_special_tokens=True)
    found = [text.find(stop) for stop in ask.stop]
    return text[: min((place for place in found if place >= 0), default=None)]


def _judge_logprobs(ask: Ask, one: Read, other: Read, chunks) -> None:
    found = [entry for chunk in chunks for entry in chunk.logprobs]
    wanted = 0 if ask.logprobs is None else len(one.tokens)
    assert len(one.logprobs) == len(other.logprobs) == len(found) == wanted
    for first, second, bare in zip(one.logprobs, other.logprobs, found, strict=True):
        assert first[0] == second[0]
        assert math.isclose(first[1], second[1], abs_tol=LOGPROBS_AGREE)
        assert math.isclose(first[1], bare.logprob, abs_tol=LOGPROBS_AGREE)
        assert len(bare.top) == ask.logprobs
        # which of two equally likely ones is last may differ; so compare values
        for left, right in zip(first[2], second[2], strict=False):
            if left[0] == right[0]:
                assert math.isclose(left[1], right[1], abs_tol=LOGPROBS_AGREE)


def _usage(alone) -> dict:
    done = [chunks[-1].completion for chunks in alone]
    read, written = done[0].prompt_tokens, sum(len(d.tokens) for d in done)
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
    }


def _note(ask: Ask, read: Read, seen: Counter) -> None:
    """Count what makes an answer worth testing."""
    tokenizer = byte_tokenizer()
    seen["answers"] += 1
    seen["several tokens in a chunk"] += any(len(c) > 1 for c in read.chunks)
    parts = ["\ufffd" in tokenizer.decode([token]) for token in read.tokens]
    beyond = [c for c in read.text if not c.isascii() and c != "\ufffd"]
    seen["character of several tokens"] += any(parts) and bool(beyond)
    seen["event with tokens and no text"] += any(
        chunk and not text for chunk, text in zip(read.chunks, read.texts, strict=True)
    )
    ends = tokenizer.token_to_id(END)
    seen["end of sequence"] += bool(read.tokens) and read.tokens[-1] == ends
    seen["length"] += read.finish == "length"
    whole = tokenizer.decode(read.tokens)
    if hit := [stop for stop in ask.stop if stop in whole]:
        seen["stop string"] += 1
        texts = [tokenizer.decode([token]) for token in read.tokens]
        seen["stop string over tokens"] += not any(hit[0] in text for text in texts)
        chunks = [tokenizer.decode(chunk) for chunk in read.chunks]
        seen["stop string over chunks"] += not any(hit[0] in text for text in chunks)
        seen["stop string in a draft"] += len(read.chunks[-1]) > 1
