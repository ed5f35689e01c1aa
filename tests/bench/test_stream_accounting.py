"""Bursts of a stream are counted in tokens, never in chunks, up to the bench's figures.

Replayed reports: vllm-project/vllm pull requests 35471 and 4947, fmperf 28; of text
that is one token again and again, NVIDIA/TensorRT-LLM issue 8713.
"""

from __future__ import annotations

import pytest

from trtspec.bench.collect import Place, samples
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.metrics import TPOT, TTFT, ArmData
from trtspec.bench.outcome import Outcome, Pass
from trtspec.run.running import Running
from trtspec.run.types import Request
from trtspec.trtllm.pytorch.launch.canary import text_fault


class Silent:
    """A text stream that ends nothing and says nothing."""

    text = ""

    def add(self, token):
        return False

    def release(self):
        return ""

    finish = release


def stream(*chunks):
    """Run one request whose chunks come as (milliseconds, tokens)."""
    total = sum(count for _, count in chunks)
    request = Request("r", (1, 2, 3), total)
    running = Running(request, Silent(), frozenset(), 0.0)
    seen = [running.emit(range(count), at / 1000) for at, count in chunks]
    assert running.finished
    return running.completion, tuple((c.time, len(c.tokens)) for c in seen)


def measured(completion, chunks):
    """Give the bench's sample of it."""
    outcome = Outcome(
        "r",
        due_at=0.0,
        sent_at=0.0,
        chunks=chunks,
        prompt_tokens=3,
        output_tokens=len(completion.tokens),
        finish_reason="length",
        text="",
        tokens=tuple(completion.tokens),
    )
    prompt = BenchPrompt("p", "chat", (), (1, 2, 3))
    passed = Pass((outcome,), (), 0.0, completion.last_token_at)
    (sample,) = samples(Place("on", 1, "c1"), [prompt], passed)
    return sample


@pytest.mark.parametrize(
    ("chunks", "tokens", "ttft", "tpot"),
    [
        (((100, 1), (120, 3), (140, 1), (160, 4), (180, 2)), 11, 100, 8.0),
        (((100, 1), (120, 1), (140, 1)), 3, 100, 20.0),  # plain decoding: chunk = token
        (((100, 4), (160, 4)), 8, 100, 60 / 7),  # the first chunk is a burst as well
        (((50, 1), (250, 2), (250, 2), (450, 5)), 10, 50, 400 / 9),  # an empty gap
    ],
)
def test_a_burst_counts_with_all_its_tokens(chunks, tokens, ttft, tpot):
    sample = measured(*stream(*chunks))
    assert sample.output_tokens == tokens
    assert TTFT().of(sample) * 1000 == pytest.approx(ttft)
    assert TPOT().of(sample) * 1000 == pytest.approx(tpot)


def test_the_decode_rate_is_that_of_tokens():
    sample = measured(*stream((100, 1), (120, 3), (140, 1), (160, 4), (180, 2)))
    assert 1 / sample.tpot == pytest.approx(125)  # 50 a second are chunks


@pytest.mark.parametrize("tokens", [1, 5])
def test_an_answer_in_one_chunk_has_no_time_per_token_of_its_own(tokens):
    sample = measured(*stream((100, tokens)))
    assert sample.output_tokens == tokens
    assert sample.tpot is None
    assert TPOT().summarize(ArmData("on", (), (sample,))).p50 is None


@pytest.mark.parametrize("text", ["!" * 62, "the the " * 20, "\u0000" * 64, ". " * 40])
def test_one_token_again_and_again_fails_the_canary(text):
    assert text_fault(text).startswith("one piece of text repeated")


@pytest.mark.parametrize(
    "text", ["Sure, " + "!" * 62, "a b" + " the" * 30, "Hi" + "0" * 32]
)
def test_an_answer_that_only_begins_well_fails_it_too(text):
    assert "ends in one piece of text repeated" in text_fault(text)


@pytest.mark.parametrize(
    "text",
    [
        "The Rhine ends in the North Sea, the Po in the Adriatic, the Don in Azov.",
        "1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n7. g\n8. h",
        "Wait... no.",
        "def f(x):\n    return x\n\n\n# ---\n",
    ],
)
def test_sound_answers_pass_it(text):
    assert text_fault(text) == ""
