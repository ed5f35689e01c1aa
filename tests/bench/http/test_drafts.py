"""What servers say about drafts: each in its own place, most of them nothing."""

from __future__ import annotations

import pytest

from tests.bench.http.events import DONE, answered, chat, usage
from trtspec.bench.outcome import Failed
from trtspec.run import DraftStep

VLLM = {
    "num_spec_steps": 2,
    "num_draft_tokens": 6,
    "num_accepted_draft_tokens": 3,
    "num_spec_tokens": 3,
}


def told(*, choice=None, tokens=6, details=None, **beside):
    return answered(
        (100, chat("a")),
        (120, chat("b", "length", choice=choice or {})),
        (121, usage(tokens, details=details or {}, **beside)),
        (122, DONE),
    )


def test_most_servers_say_nothing():
    outcome = told()
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (None, None, None)
    assert outcome.draft_steps is None


def test_vllm_tells_sums():
    outcome = told(metrics={"speculative_decoding": VLLM})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (2, 6, 3)
    assert outcome.draft_steps is None


def test_vllm_tells_single_steps_if_asked_to():
    steps = {"per_step_drafted": [3, 3], "per_step_accepted": [3, 0]}
    outcome = told(metrics={"speculative_decoding": VLLM | steps})
    assert outcome.draft_steps == (DraftStep(3, 3, 3), DraftStep(3, 3, 0))


@pytest.mark.parametrize(
    "steps",
    [
        {"per_step_drafted": [3], "per_step_accepted": [3, 0]},
        {"per_step_drafted": [3, 3], "per_step_accepted": [4, 0]},
        {"per_step_drafted": [3, 3], "per_step_accepted": [0, 0]},
        {"per_step_drafted": [3, "3"], "per_step_accepted": [3, 0]},
    ],
    ids=["unequal", "more than drafted", "tokens without a step", "no number"],
)
def test_single_steps_that_are_not_all_are_left_out(steps):
    outcome = told(metrics={"speculative_decoding": VLLM | steps})
    assert outcome.draft_steps is None
    assert outcome.drafted == 6


def test_tensorrt_llm_tells_sums_in_its_last_choice():
    counts = {
        "num_spec_steps": 2,
        "total_draft_tokens": 6,
        "total_accepted_draft_tokens": 3,
    }
    outcome = told(choice={"speculative_decoding": counts})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (2, 6, 3)


def test_tensorrt_llm_tells_a_mean_that_has_no_drafted_tokens():
    """6 tokens in 3 iterations, one of them the prefill: 2 steps, 3 accepted."""
    outcome = told(choice={"avg_decoded_tokens_per_iter": 2.0})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (2, None, 3)


@pytest.mark.parametrize("average", [0.5, "2", True, -1.0])
def test_a_mean_that_makes_no_sense_is_left_out(average):
    outcome = told(choice={"avg_decoded_tokens_per_iter": average})
    assert (outcome.steps, outcome.accepted) == (None, None)


def test_sglang_tells_accepted_and_rejected_tokens():
    details = {"accepted_prediction_tokens": 3, "rejected_prediction_tokens": 5}
    outcome = told(details={"completion_tokens_details": details})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (None, 8, 3)


def test_zeros_of_openai_are_no_counts():
    details = {"accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}
    outcome = told(details={"completion_tokens_details": details})
    assert (outcome.drafted, outcome.accepted) == (None, None)


@pytest.mark.parametrize("off", [True, False])
def test_an_off_arm_that_drafts_fails(off):
    outcome = answered(
        (100, chat("a", "length")),
        (121, usage(6, metrics={"speculative_decoding": VLLM})),
        off=off,
    )
    assert isinstance(outcome, Failed) is off
    if off:
        assert "off arm" in outcome.what


def test_an_off_arm_whose_mean_is_one_token_is_off():
    outcome = answered(
        (100, chat("a", "length", choice={"avg_decoded_tokens_per_iter": 1.0})),
        (121, usage(6)),
        off=True,
    )
    assert (outcome.steps, outcome.accepted) == (5, 0)


@pytest.mark.parametrize("drafted", [0, 2])
def test_more_accepted_than_drafted_is_taken_as_not_told(drafted):
    """Else the report would have acceptance rates above 100 %."""
    outcome = told(
        metrics={"speculative_decoding": {**VLLM, "num_draft_tokens": drafted}}
    )
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (None, None, None)
    assert outcome.output_tokens == 6


OURS = {
    "method": "ngram",
    "enabled": True,
    "steps": 3,
    "drafted": 8,
    "accepted": 2,
    "acceptance_rate": 0.25,
    "acceptance_length": 1.67,
    "lossy": "",
}


def test_our_own_server_tells_in_its_last_choice():
    outcome = told(choice={"speculation": OURS})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (3, 8, 2)
    assert outcome.lossy == ""


def test_our_own_server_says_what_is_lossy():
    outcome = told(choice={"speculation": OURS | {"lossy": "typical acceptance"}})
    assert outcome.lossy == "typical acceptance"


def test_what_our_own_server_does_not_know_is_not_known():
    unknown = dict.fromkeys(("steps", "drafted", "accepted"))
    outcome = told(choice={"speculation": OURS | unknown | {"lossy": None}})
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (None, None, None)
    assert outcome.lossy == ""


def test_counts_of_our_own_that_cannot_be_are_not_told():
    outcome = told(choice={"speculation": OURS | {"accepted": 9, "lossy": "so"}})
    assert (outcome.drafted, outcome.accepted) == (None, None)
    assert outcome.lossy == "so"


def test_an_off_arm_of_our_own_that_drafts_has_failed():
    outcome = answered(
        (1, chat("a", "length", choice={"speculation": OURS})),
        (2, usage(1) + DONE),
        off=True,
    )
    assert isinstance(outcome, Failed)
    assert "drafted 8 tokens or more although this server is the off arm" in (
        outcome.what
    )
