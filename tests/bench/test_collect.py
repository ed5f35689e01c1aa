"""How outcomes and engine steps become records."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from trtspec.bench.collect import (
    Place,
    block_record,
    failures,
    samples,
    step_times,
)
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.outcome import Failed, Outcome, Pass
from trtspec.bench.records import Resources
from trtspec.files import sha256_json
from trtspec.run import DraftStep, StepRecord

ASKED = ({"role": "user", "content": "x"},)
PROMPTS = (
    BenchPrompt("a", "code", ASKED, (1, 2, 3)),
    BenchPrompt("b", "chat", ASKED, (4,)),
)
STARTED = datetime(2026, 11, 29, 12, 0, 0, 250_000, tzinfo=timezone.utc)


def outcome(name: str, **changes) -> Outcome:
    values = {
        "due_at": 11.0,
        "sent_at": 11.25,
        "chunks": ((11.5, 1), (12.5, 2)),
        "prompt_tokens": 3,
        "output_tokens": 3,
        "finish_reason": "stop",
        "text": "xyz",
        "tokens": (5, 6, 7),
        "steps": 1,
        "drafted": 4,
        "accepted": 1,
        "draft_steps": (DraftStep(4, 3, 1),),
    }
    return Outcome(name, **(values | changes))


def passed(*outcomes: Outcome | Failed, told: bool = True) -> Pass:
    records = (
        StepRecord("prefill", 2, 0, 0, 0, 2, 0.5, 0.1, 0.05, 0.3),
        StepRecord("decode", 2, 4, 8, 2, 4, 1.0, 0.2, 0.1, 0.7),
        StepRecord("decode", 1, 4, 4, 1, 2, 0.5, 0.1, 0.0, 0.4),
    )
    return Pass(outcomes, records if told else None, started_at=10.0, ended_at=14.0)


def test_a_sample_holds_what_the_client_saw():
    single = outcome("b", tokens=(9,), output_tokens=1, chunks=((11.5, 1),))
    first, second = samples(Place("on", 1, "c2"), PROMPTS, passed(outcome("a"), single))
    assert (first.arm, first.block, first.load) == ("on", 1, "c2")
    assert (first.prompt_id, first.category) == ("a", "code")
    assert (first.prompt_tokens, first.output_tokens) == (3, 3)
    assert (first.submitted, first.late) == (1.0, 0.25)
    assert (first.ttft, first.tpot, first.e2e) == (0.5, 0.5, 1.5)
    assert first.chunks == ((0.5, 1), (1.5, 2))
    assert (first.steps, first.drafted, first.accepted) == (1, 4, 1)
    assert first.draft_steps == (DraftStep(4, 3, 1),)
    assert first.finish_reason == "stop"
    assert (first.tokens, first.text) == ((5, 6, 7), None)
    assert first.output_sha256 == sha256_json([5, 6, 7])
    assert (second.prompt_id, second.tpot, second.e2e) == ("b", None, 0.5)


def test_where_no_ids_are_the_text_stands_for_them():
    said = outcome("a", tokens=None, steps=None, drafted=None, accepted=None)
    first, _ = samples(Place("on", 1, "c2"), PROMPTS, passed(said, outcome("b")))
    assert (first.tokens, first.text) == (None, "xyz")
    assert first.output_sha256 == sha256_json("xyz")
    assert first.steps is None


@pytest.mark.parametrize("tokens", [(5, 6, 7), None])
def test_later_blocks_keep_the_hash_of_the_output_only(tokens):
    first, _ = samples(
        Place("off", 2, "c2"),
        PROMPTS,
        passed(outcome("a", tokens=tokens), outcome("b")),
    )
    assert first.tokens is first.text is None
    assert len(first.output_sha256) == 64


def test_a_failed_request_becomes_a_failure_and_no_sample():
    broken = passed(Failed("a", "was cancelled"), outcome("b"))
    place = Place("on", 2, "c2")
    (told,) = failures(place, PROMPTS, broken)
    assert (told.arm, told.block, told.load) == ("on", 2, "c2")
    assert (told.prompt_id, told.what) == ("a", "was cancelled")
    assert [s.prompt_id for s in samples(place, PROMPTS, broken)] == ["b"]


def test_a_missing_outcome_is_never_skipped():
    with pytest.raises(ValueError, match="shorter"):
        samples(Place("on", 1, "c2"), PROMPTS, passed(outcome("a")))


def test_a_block_sums_tokens_as_counted_and_steps_by_kind():
    used = Resources(cpu_seconds=3.0)
    block = block_record(
        Place("on", 3, "c2", order=5),
        passed(outcome("a"), outcome("b", output_tokens=1)),
        STARTED,
        used,
    )
    assert (block.arm, block.block, block.load) == ("on", 3, "c2")
    assert (block.order, block.started) == (5, "2026-11-29T12:00:00.250+00:00")
    assert (block.wall_seconds, block.requests, block.output_tokens) == (4.0, 2, 4)
    assert (block.prompt_tokens, block.resources) == (6, used)
    assert block.prefill is not None
    assert block.decode is not None
    assert (block.prefill.steps, block.prefill.seconds) == (1, 0.5)
    assert (block.decode.steps, block.decode.seconds) == (2, 1.5)
    assert block.decode.forward_seconds == pytest.approx(1.1)
    assert block.decode.draft_seconds == pytest.approx(0.3)
    assert (block.decode.drafted, block.decode.accepted) == (12, 3)


def test_a_server_that_tells_nothing_leaves_nothing():
    said = outcome("a", prompt_tokens=None)
    block = block_record(
        Place("on", 1, "c1"),
        passed(said, outcome("b"), told=False),
        STARTED,
        Resources(),
    )
    assert block.prefill is block.decode is block.prompt_tokens is None


def test_no_steps_add_up_to_nothing():
    assert step_times([]).model_dump() == dict.fromkeys(step_times([]).model_dump(), 0)
