"""How completions and engine steps become records."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from trtspec.bench.collect import (
    BenchPrompt,
    Place,
    block_record,
    sample_records,
    step_times,
)
from trtspec.bench.load import LoadResult
from trtspec.errors import RunError
from trtspec.files import sha256_json
from trtspec.run import Completion, StepRecord

PROMPTS = (BenchPrompt("a", "code", (1, 2, 3)), BenchPrompt("b", "chat", (4,)))
STARTED = datetime(2026, 11, 29, 12, 0, 0, 250_000, tzinfo=timezone.utc)


def completion(name: str, **changes) -> Completion:
    values = {
        "prompt_tokens": 3,
        "tokens": [5, 6, 7],
        "finish_reason": "stop",
        "submitted_at": 11.0,
        "first_token_at": 11.5,
        "last_token_at": 12.5,
        "steps": 1,
        "drafted": 4,
        "accepted": 1,
    }
    return Completion(name, **(values | changes))


def loaded(*completions: Completion) -> LoadResult:
    records = (
        StepRecord("prefill", 2, 0, 0, 0, 2, 0.5, 0.1, 0.05, 0.3),
        StepRecord("decode", 2, 4, 8, 2, 4, 1.0, 0.2, 0.1, 0.7),
        StepRecord("decode", 1, 4, 4, 1, 2, 0.5, 0.1, 0.0, 0.4),
    )
    return LoadResult(completions, records, started_at=10.0, ended_at=14.0)


def test_a_sample_holds_what_the_completion_says():
    (first, second) = sample_records(
        Place("on", 1, 2),
        PROMPTS,
        loaded(completion("a"), completion("b", tokens=[9], last_token_at=11.5)),
    )
    assert (first.arm, first.block, first.concurrency) == ("on", 1, 2)
    assert (first.prompt_id, first.category) == ("a", "code")
    assert (first.prompt_tokens, first.output_tokens) == (3, 3)
    assert (first.submitted, first.ttft, first.tpot, first.e2e) == (1, 0.5, 0.5, 1.5)
    assert (first.steps, first.drafted, first.accepted) == (1, 4, 1)
    assert first.finish_reason == "stop"
    assert first.tokens == (5, 6, 7)
    assert first.tokens_sha256 == sha256_json([5, 6, 7])
    assert (second.prompt_id, second.tpot, second.e2e) == ("b", None, 0.5)


def test_later_blocks_keep_the_hash_of_the_tokens_only():
    (first, _) = sample_records(
        Place("off", 2, 2), PROMPTS, loaded(completion("a"), completion("b"))
    )
    assert first.tokens is None
    assert first.tokens_sha256 == sha256_json([5, 6, 7])


@pytest.mark.parametrize("changes", [{"tokens": []}, {"finish_reason": "cancelled"}])
def test_a_request_that_did_not_finish_becomes_no_sample(changes):
    broken = loaded(completion("a", **changes), completion("b"))
    with pytest.raises(RunError, match="request a"):
        list(sample_records(Place("on", 1, 2), PROMPTS, broken))


def test_a_missing_completion_is_never_skipped():
    with pytest.raises(ValueError, match="shorter"):
        list(sample_records(Place("on", 1, 2), PROMPTS, loaded(completion("a"))))


def test_a_block_sums_tokens_from_ids_and_steps_by_kind():
    block = block_record(
        Place("on", 3, 2),
        loaded(completion("a"), completion("b", tokens=[9])),
        order=5,
        started=STARTED,
    )
    assert (block.arm, block.block, block.concurrency) == ("on", 3, 2)
    assert (block.order, block.started) == (5, "2026-11-29T12:00:00.250+00:00")
    assert (block.wall_seconds, block.requests, block.output_tokens) == (4.0, 2, 4)
    assert (block.prefill.steps, block.prefill.seconds) == (1, 0.5)
    assert (block.decode.steps, block.decode.seconds) == (2, 1.5)
    assert block.decode.forward_seconds == pytest.approx(1.1)
    assert block.decode.draft_seconds == pytest.approx(0.3)
    assert (block.decode.drafted, block.decode.accepted) == (12, 3)


def test_no_steps_add_up_to_nothing():
    assert step_times([]).model_dump() == dict.fromkeys(step_times([]).model_dump(), 0)
