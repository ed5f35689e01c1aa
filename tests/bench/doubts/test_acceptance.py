"""Acceptance that no drafter has, and drafting that stops or changes on the way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.bench.doubts.scenes import arm, found, steps, varied
from tests.bench.fakes import plan
from trtspec.run import DraftStep


def test_everything_accepted_is_fatal():
    doubt = found(arm("on", lambda b, p: steps(*[4] * 20)))["acceptance-pinned"]
    assert doubt.fatal
    assert "ceiling" in doubt.what


def test_everything_accepted_under_a_schedule_of_lengths_is_fatal():
    def change(block, prompt):
        depths = [1 + i % 4 for i in range(20)]
        told = [DraftStep(d, d, d) for d in depths]
        counts = {"steps": 20, "drafted": sum(depths), "accepted": sum(depths)}
        return {**counts, "draft_steps": told}

    assert "ceiling" in found(arm("on", change))["acceptance-pinned"].what


@pytest.mark.parametrize("accepted", [1, 2, 3])
def test_the_same_number_in_every_step_is_fatal(accepted):
    doubt = found(arm("on", lambda b, p: steps(*[accepted] * 20)))["acceptance-pinned"]
    assert doubt.fatal
    assert f"accepted {accepted} draft tokens" in doubt.what


def test_the_last_step_of_a_request_may_be_cut():
    doubts = found(arm("on", lambda b, p: steps(*[4] * 20, 1)))
    assert "acceptance-pinned" in doubts


def test_few_steps_are_not_judged():
    assert "acceptance-pinned" not in found(arm("on", lambda b, p: steps(*[4] * 8)))


@pytest.mark.parametrize(("accepted", "pinned"), [(80, True), (79, False)])
def test_sums_alone_show_the_ceiling_too(accepted, pinned):
    sums = {"steps": 20, "drafted": 80, "accepted": accepted}
    doubts = found(arm("on", lambda b, p: sums))
    assert ("acceptance-pinned" in doubts) is pinned


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_a_good_drafter_is_not_pinned(rate):
    random = np.random.default_rng(round(rate * 100))

    def change(block, prompt):
        chains = random.random((40, 4)) < rate
        return steps(*(int(np.cumprod(chain).sum()) for chain in chains))

    assert "acceptance-pinned" not in found(arm("on", change))


def test_a_tree_that_is_accepted_to_its_depth_only_is_pinned():
    told = [DraftStep(drafted=15, depth=4, accepted=4)] * 20
    counts = {"steps": 20, "drafted": 300, "accepted": 80, "draft_steps": told}
    assert "acceptance-pinned" in found(arm("on", lambda b, p: counts))


def test_nothing_accepted_is_told():
    doubt = found(arm("on", lambda b, p: steps(*[0] * 20)))["nothing-accepted"]
    assert not doubt.fatal


def test_a_gain_with_nothing_accepted_is_fatal():
    fast = arm("on", lambda b, p: steps(*[0] * 20), lambda b, p: {"wall_seconds": 5.0})
    assert found(fast)["nothing-accepted"].fatal


def test_an_arm_that_drafts_nothing_is_told():
    doubt = found(arm("on"))["nothing-drafted"]
    assert not doubt.fatal
    assert "ngram" in doubt.what


def test_the_control_is_not_expected_to_draft():
    of = plan(8, control=True)
    assert found(arm("off again"), of=of) == {}


def test_an_engine_that_does_not_tell_is_not_judged():
    silent = {"steps": None, "drafted": None, "accepted": None}
    assert found(arm("on", lambda b, p: silent)) == {}


def test_drafting_that_stops_between_blocks_is_told():
    stops = arm("on", lambda b, p: varied(b, p) if b < 3 else steps(*[0] * 40, depth=0))
    doubt = found(stops)["drafting-stopped"]
    assert not doubt.fatal
    assert "8 of 8 prompts in block 3" in doubt.what


def test_drafting_that_stops_within_the_first_block_is_told():
    def change(block, prompt):
        on = block == 1 and prompt < 4
        return varied(block, prompt) if on else steps(*[0] * 40, depth=0)

    assert (
        "4 of 4 prompts in block 3" in found(arm("on", change))["drafting-stopped"].what
    )


def test_prompts_that_never_had_a_draft_are_no_stop():
    def change(block, prompt):
        return varied(block, prompt) if prompt < 4 else steps(*[0] * 40, depth=0)

    assert found(arm("on", change)) == {}


def test_acceptance_that_changes_between_blocks_is_told():
    def change(block, prompt):
        return (
            steps(*(i % 3 for i in range(20))) if block == 2 else varied(block, prompt)
        )

    doubt = found(arm("on", change))["acceptance-changed"]
    assert not doubt.fatal
    assert "in block 2" in doubt.what


def test_sampled_acceptance_that_wavers_is_left_alone():
    random = np.random.default_rng(5)

    def change(block, prompt):
        return steps(*random.integers(0, 5, size=60).tolist())

    assert found(arm("on", change)) == {}
