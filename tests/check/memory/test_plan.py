"""The arithmetic of a plan, with the replayed case of a draft model on 80 GB."""

import pytest

from trtspec.check.memory.cache import Cache
from trtspec.check.memory.plan import MemoryPlan, Part

TARGET = Part("target", 70 * 10**9, Cache(2 * 80 * 8 * 128 * 2))
DRAFT_CACHE = Cache(2 * 16 * 8 * 64 * 2)
CASE = {"reserve": 2 * 10**9, "fraction": 0.9, "request_tokens": 8192}


def case(*parts, **changes):
    asked = {"gpu": "H100", "gpus": 1, "memory": 80 * 10**9, **CASE}
    return MemoryPlan(parts=parts, **{**asked, "max_batch_size": 4, **changes})


def test_weights_of_both_that_are_more_than_the_gpu_do_not_fit():
    plan = case(TARGET, Part("draft model", 16 * 10**9, DRAFT_CACHE))
    assert plan.weights == 86 * 10**9 > plan.memory
    assert not plan.weights_fit
    assert (plan.pool, plan.tokens, plan.requests) == (0, 0, 0.0)


def test_what_both_leave_holds_fewer_than_two_requests():
    plan = case(TARGET, Part("draft model", 2_500_000_000, DRAFT_CACHE))
    assert plan.free == 5_500_000_000
    assert plan.pool == 4_950_000_000
    assert plan.bytes_per_token == 327680 + 32768 == 360448
    assert round(plan.tokens, -1) == 13730
    assert round(plan.requests, 2) == 1.68
    assert not plan.is_useful


def test_the_draft_models_cache_may_not_be_left_out():
    wrong = case(TARGET, Part("draft model", 2_500_000_000))
    assert wrong.tokens == 15106


def test_one_request_is_useful_if_one_is_wanted():
    plan = case(TARGET, Part("draft model", 2_500_000_000), max_batch_size=1)
    assert plan.is_useful


@pytest.mark.parametrize(
    ("budget", "step", "batch"),
    [(None, 5, 8), (40, 5, 8), (39, 5, 7), (64, 64, 1), (63, 64, 0), (16, 2 * 4, 2)],
)
def test_the_token_budget_counts_drafts(budget, step, batch):
    plan = MemoryPlan(
        "GPU", 1, 1000, (Part("target", 0, Cache(1)),), 0, 1.0, 100,
        max_batch_size=8, step_tokens=step, token_budget=budget,
    )  # fmt: skip
    assert plan.requests == 10
    assert plan.effective_batch == batch


def test_the_batch_is_no_larger_than_what_fits_at_full_length():
    plan = MemoryPlan("GPU", 1, 350, (Part("target", 0, Cache(1)),), 0, 1.0, 100, 8)
    assert plan.effective_batch == 3


def test_an_asked_for_number_of_tokens_is_the_most():
    part = Part("target", 0, Cache(1))
    plan = MemoryPlan("GPU", 1, 1000, (part,), 0, 1.0, 100, 8, most_tokens=250)
    assert (plan.tokens, plan.requests) == (250, 2.5)


def test_gpus_that_attend_for_themselves_add_up():
    plan = MemoryPlan(
        "GPU", 4, 350, (Part("target", 0, Cache(1)),), 0, 1.0, 100, 16, replicas=4
    )
    assert (plan.tokens, plan.requests, plan.effective_batch) == (1400, 14.0, 14)


def test_a_pool_of_its_own_bounds_the_draft_model():
    parts = (Part("target", 0, Cache(4)), Part("draft model", 0, Cache(4)))
    plan = MemoryPlan("GPU", 1, 1000, parts, 0, 1.0, 10, draft_share=0.2)
    shared = MemoryPlan("GPU", 1, 1000, parts, 0, 1.0, 10)
    assert (plan.tokens, shared.tokens) == (50, 125)


def test_a_share_without_a_draft_model_is_the_targets():
    plan = MemoryPlan(
        "GPU", 1, 1000, (Part("target", 0, Cache(4)),), 0, 1.0, 10, draft_share=0.2
    )
    assert plan.tokens == 250


def test_a_model_without_cache_holds_nothing():
    plan = case(Part("target", 10), memory=1000, reserve=0)
    assert (plan.tokens, plan.requests) == (0, 0.0)
