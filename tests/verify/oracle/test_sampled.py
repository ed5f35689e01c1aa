"""Sampled tokens are judged by exact distributions: right ones pass, faults do not."""

from dataclasses import replace

import numpy as np
import pytest

from tests.verify.distribution.worlds import FAULTS, PENALTY, World, WorldArm
from tests.verify.oracle.worlds import POSITIONS, reference
from trtspec.errors import UsageError
from trtspec.verify.distribution import AtAnotherTemperature
from trtspec.verify.distribution.collect import Collected
from trtspec.verify.oracle.record import OracleSampled
from trtspec.verify.oracle.sampled import (
    judge_sampled,
    make_oracle_plan,
    oracle_requests,
    sampled_oracle,
)
from trtspec.verify.oracle.sentences import sampled_oracle_lines

PLAN = make_oracle_plan(len(POSITIONS), permutations=299)


def outcome(on=None, off=None, control=None, plan=PLAN, judge=None):
    off = off or WorldArm(name="off", drafts=False)
    on = on or WorldArm(name="on")
    control = control or AtAnotherTemperature(WorldArm(name="off"))
    return sampled_oracle((off, on, control), POSITIONS, plan, judge or reference(plan))


def test_exact_speculation_passes_and_says_what_would_have_been_seen():
    found = outcome()
    assert found.verdict == "pass", found.reasons
    assert "would have been found, and the negative control was" in found.reasons[0]
    assert found.requests == 3 * 6 * PLAN.seeds
    assert found.on.tokens == 6 * PLAN.seeds * 3
    assert found.on.outside == 0
    assert found.control.differs
    assert found.on.smallest_shift < 0.16
    assert found.on.likeliest == pytest.approx(found.on.likeliest_expected, abs=0.03)


def faulty_arm(fault):
    if fault != "dropped penalty":
        return WorldArm(name="on", fault=fault)
    return WorldArm(name="on", penalty=PENALTY)  # differs from what is asked for


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(fault):
    found = outcome(on=faulty_arm(fault))
    assert found.verdict == "fail"
    assert found.reasons[0].startswith("tokens of on are not drawn from the reference")


def test_what_is_ignored_is_named():
    greedy = outcome(on=WorldArm(name="on", fault="argmax despite temperature"))
    assert any("sharper" in reason for reason in greedy.reasons)
    assert greedy.on.likeliest == 1.0
    wide = outcome(on=WorldArm(name="on", fault="top-p ignored"))
    assert wide.on.outside > 0
    assert any("outside of what temperature" in reason for reason in wide.reasons)


def test_with_no_fault_few_runs_fail():
    """Levels are kept: 5 % of tests may fail, here of 40."""
    failed = 0
    plan = make_oracle_plan(len(POSITIONS), shift=0.3, permutations=199)
    for seed in range(40):
        seeded = plan.model_copy(update={"seed": seed + 10})
        failed += outcome(plan=seeded, judge=reference(seeded)).verdict == "fail"
    assert failed <= 6  # chance of more, at 5 %: 0.7 %


def test_an_off_arm_that_differs_is_about_the_reference():
    found = outcome(judge=reference(PLAN, World(seed=5)))
    assert found.verdict == "cannot tell"
    assert "do not run the same model" in found.reasons[0]


def test_a_control_that_is_not_found_leaves_no_pass():
    found = outcome(control=WorldArm(name="harmless"))
    assert found.verdict == "cannot tell"
    assert "the negative control (harmless) was not found" in found.reasons[0]


def test_nothing_drafted_cannot_tell():
    found = outcome(on=WorldArm(name="on", drafts=False))
    assert found.verdict == "cannot tell"
    assert "nothing was drafted" in found.reasons[0]


def test_a_difference_that_rounding_can_make_is_no_failure():
    """The on arm's world is a little hotter; the reference's logits are that rough."""
    hotter = WorldArm(name="on", temperature_factor=1.2)
    assert outcome(on=hotter).verdict == "fail"
    found = outcome(on=hotter, judge=reference(PLAN, moved=0.3))
    assert found.verdict == "cannot tell"
    assert "which rounding can make (0.3)" in found.reasons[0]


def test_tokens_told_by_text_are_judged_as_well():
    class ByText(WorldArm):
        def answer(self, questions, concurrency):
            found = super().answer(questions, concurrency)
            return {
                k: replace(a, tokens=None, pieces=tuple(a.text.split()))
                for k, a in found.items()
            }

    control = AtAnotherTemperature(ByText(name="off"))
    judge = reference(PLAN, as_text=True)
    found = outcome(ByText(name="on"), ByText(name="off"), control, judge=judge)
    assert found.verdict == "pass", found.reasons
    assert found.on.tokens == 6 * PLAN.seeds * 3
    wrong = outcome(
        ByText(name="on", fault="forced acceptance"), ByText(), control, judge=judge
    )
    assert wrong.verdict == "fail"


def test_answers_that_tell_no_tokens_cannot_be_judged():
    class Mute(WorldArm):
        def answer(self, questions, concurrency):
            found = super().answer(questions, concurrency)
            return {k: replace(a, tokens=None) for k, a in found.items()}

    found = outcome(on=Mute(name="on"))
    assert found.verdict == "cannot tell"
    assert "do not tell their tokens" in found.reasons[0]


def test_the_plan_says_what_it_costs_and_less_shift_costs_more():
    assert make_oracle_plan(6, shift=0.1).seeds > 2 * PLAN.seeds / 1.5
    words = oracle_requests(PLAN, 6)
    assert f"{18 * PLAN.seeds} in all with up to 5 tokens each" in words
    with pytest.raises(UsageError, match="takes more than"):
        make_oracle_plan(1, shift=0.001)


def test_no_two_requests_share_a_seed():
    arms = [WorldArm(name=name) for name in ("off", "on", "control")]
    sampled_oracle(tuple(arms), POSITIONS, PLAN, reference(PLAN))
    seeds = [q.sampling.seed for arm in arms for q in arm.asked]
    assert len(set(seeds)) == len(seeds) == 18 * PLAN.seeds


def test_no_positions_are_no_test():
    found = judge_sampled(
        {name: Collected({}) for name in ("off", "on", "x")}, (), PLAN, reference(PLAN)
    )
    assert found.verdict == "cannot tell"


def test_lines_and_json():
    found = outcome()
    lines = sampled_oracle_lines(found)
    assert "behind 6 texts: 3 tokens of each answer, by token ids" in lines[0]
    assert lines[2].startswith("on: no difference, p = ")
    assert lines[3].startswith("negative control: off, temperature times 1.4: differs")
    assert OracleSampled.model_validate_json(found.model_dump_json()) == found
    assert np.isfinite(found.on.statistic)
