"""Samples as a client would record them, from streams written as ``ms:tokens``."""

from __future__ import annotations

from trtspec.bench.collect import Place, samples
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.metrics import ArmData
from trtspec.bench.outcome import Outcome, Pass
from trtspec.bench.records import Sample

PROMPT = BenchPrompt("p1", "chat", ({"role": "user", "content": "hi"},))


def stream(text: str, *, sent: float = 50.0, late: float = 0.0, **told) -> Sample:
    """Make a sample; ``100:1 120:3`` are chunks of 1 and 3 tokens.

    :param late: sent so many seconds after its time.
    :param told: what else the server says.
    """
    pairs = [part.split(":") for part in text.split()]
    chunks = tuple((sent + float(at) / 1000, int(count)) for at, count in pairs)
    outcome = Outcome(
        request_id="p1",
        due_at=sent - late,
        sent_at=sent,
        chunks=chunks,
        output_tokens=told.pop("output_tokens", sum(int(count) for _, count in pairs)),
        **{
            "prompt_tokens": 7,
            "finish_reason": "stop",
            "text": "",
            **told,
        },
    )
    taken = Pass((outcome,), None, sent - late, chunks[-1][0])
    (sample,) = samples(Place("on", 1, "c1"), [PROMPT], taken)
    return sample


def arm(samples=(), blocks=(), **goodput) -> ArmData:
    """What was measured in an arm."""
    return ArmData("on", tuple(blocks), tuple(samples), goodput)
