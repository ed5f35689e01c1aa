"""The whole test in a world whose faults are known; long runs are marked slow."""

from collections import Counter

import pytest

from tests.verify.distribution.worlds import (
    FAULTS,
    PENALTY,
    PROMPTS,
    World,
    WorldArm,
)
from trtspec.errors import UsageError
from trtspec.verify.distribution import (
    AtAnotherTemperature,
    DistributionResult,
    distribution_test,
    evaluate,
    make_plan,
)
from trtspec.verify.distribution.collect import ask
from trtspec.verify.distribution.compare import compare
from trtspec.verify.distribution.judge import judge

SOME = dict(list(PROMPTS.items())[:4])
PLAN = make_plan(len(SOME), shift=0.25)
CONTROL = "p(2-p) resampling"


def result(fault=None, plan=PLAN, prompts=SOME, control=CONTROL, world=None, **options):
    """Test an arm with a fault, or with none."""
    world = world or World()
    penalty = PENALTY if fault == "dropped penalty" else 0.0
    off = WorldArm(world, "off", penalty=penalty, **options)
    on = WorldArm(world, "on", fault, **options)
    wrong = WorldArm(world, control or "off", control, penalty=penalty, **options)
    return distribution_test(off, on, wrong, prompts, plan)


def test_an_exact_arm_passes_and_says_what_would_have_been_found():
    found = result()
    assert (found.verdict, found.compared) == ("pass", "token ids")
    assert found.requests == sum(PLAN.requests(4).values())
    assert found.on.smallest_shift == pytest.approx(PLAN.shift, rel=0.25)
    assert found.control.differs
    assert found.control_says == CONTROL
    assert (found.drafts.drafted, found.drafts.accepted) == (
        5 * 4 * PLAN.seeds,
        3 * 4 * PLAN.seeds,
    )


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(fault):
    plan = make_plan(len(SOME), shift=0.15, seed=1)
    found = result(fault, plan)
    assert found.verdict == "fail"
    assert found.on.shift > 0.1


@pytest.mark.parametrize("fault", [None, "argmax despite temperature"])
def test_a_server_that_gives_text_only_is_judged_by_its_words(fault):
    found = result(fault, says="text")
    assert found.compared == "pieces of text"
    assert found.verdict == ("fail" if fault else "pass")


def test_an_arm_with_ids_and_one_without_are_compared_as_text():
    off, on = WorldArm(name="off"), WorldArm(name="on", says="text")
    wrong = WorldArm(name="wrong", fault=CONTROL)
    found = distribution_test(off, on, wrong, SOME, PLAN)
    assert (found.compared, found.verdict) == ("pieces of text", "pass")


def test_collapse_to_argmax_is_told_from_other_faults():
    assert "collapse to argmax" in result("argmax despite temperature").reasons[-1]
    assert "flatter" in result("temperature ignored").reasons[-1]


def test_without_a_control_that_is_wrong_there_is_no_verdict():
    found = result(control=None)
    assert found.verdict == "cannot tell"
    assert "negative control" in found.reasons[0]


def test_a_test_with_hardly_any_requests_cannot_tell():
    found = result(plan=PLAN.model_copy(update={"seeds": 3}))
    assert found.verdict == "cannot tell"


def test_a_server_that_ignores_seeds_cannot_be_judged():
    found = result(seedless=True)
    assert found.verdict == "cannot tell"
    assert "whatever the seed" in found.reasons[0]


def test_another_temperature_is_a_control_for_servers():
    wrong = AtAnotherTemperature(WorldArm(name="off"))
    off, on = WorldArm(name="off"), WorldArm(name="on")
    found = distribution_test(off, on, wrong, SOME, PLAN)
    assert found.verdict == "pass"
    assert found.control_says == "off, temperature times 1.4"


def test_a_control_at_the_same_temperature_is_none():
    same = AtAnotherTemperature(WorldArm(name="off"), factor=1.0)
    off, on = WorldArm(name="off"), WorldArm(name="on")
    assert distribution_test(off, on, same, SOME, PLAN).verdict == "cannot tell"


def test_arms_are_asked_in_an_order_that_shows_what_changes_with_time():
    order = []

    class Noted(WorldArm):
        def answer(self, questions, concurrency):
            order.append((self.name, len(questions), concurrency))
            return super().answer(questions, concurrency)

    arms = (
        Noted(name=n, fault=f) for n, f in (("off", None), ("on", None), ("c", CONTROL))
    )
    distribution_test(*arms, SOME, PLAN)
    size = 4 * PLAN.seeds
    assert order == [(name, size, 8) for name in ("off", "on", "off", "c")]


def test_an_off_arm_that_changes_with_time_cannot_be_compared():
    class Drifting(WorldArm):
        def answer(self, questions, concurrency):
            found = super().answer(questions, concurrency)
            self.temperature_factor = 1.8
            return found

    off, on = Drifting(name="off"), WorldArm(name="on")
    wrong = WorldArm(name="c", fault=CONTROL)
    found = distribution_test(off, on, wrong, SOME, PLAN)
    assert found.verdict == "cannot tell"
    assert "off differs from off" in found.reasons[0]


def test_no_prompts_are_refused_before_anything_is_asked():
    arm = WorldArm()
    with pytest.raises(UsageError):
        distribution_test(arm, arm, arm, {}, PLAN)
    assert arm.asked == []


def test_the_record_is_written_and_read_again_and_describes_itself():
    found = result()
    again = DistributionResult.model_validate_json(found.model_dump_json())
    assert again == found
    for record in (type(found), type(found.on), type(found.on.prompts[0])):
        assert all(field.description for field in record.model_fields.values())


@pytest.mark.slow
def test_without_a_fault_at_most_5_percent_fail():
    verdicts = Counter(
        result(
            plan=PLAN.model_copy(update={"seed": run, "permutations": 199}),
            control="forced acceptance",
        ).verdict
        for run in range(200)
    )
    # binomial: 5 % of 200 are more than 19 once in 300 times; seeds are fixed
    assert verdicts["fail"] <= 19
    assert verdicts["cannot tell"] <= 8


class Run:
    """One test per fault; what does not depend on the fault is asked once."""

    def __init__(self, seed, penalty):
        plan = make_plan(len(SOME))
        self.plan = plan.model_copy(update={"seed": seed, "permutations": 199})
        off = WorldArm(name="off", penalty=penalty)
        self.halves = before, after = self.ask(off, 0), self.ask(off, 2)
        self.wrong = self.ask(WorldArm(name=CONTROL, fault=CONTROL, penalty=penalty), 3)
        first, again = self.sample(before, "off"), self.sample(after, "off again")
        self.off = first + again
        self.floor = compare(first, again, self.plan, *[self.plan.floor_level] * 2)
        self.control = self.compared(self.wrong, CONTROL)

    def ask(self, arm, at):
        return ask(arm, SOME, self.plan, at * self.plan.seeds, self.plan.seeds)

    def sample(self, asked, name):
        return asked.sample(name, self.plan, as_text=False)

    def compared(self, asked, name):
        levels = self.plan.global_level, self.plan.prompt_level
        return compare(self.sample(asked, name), self.off, self.plan, *levels)

    def verdict(self, fault, check=False):
        on = self.ask(WorldArm(name="on", fault=fault), 1)
        compared, drafts = self.compared(on, "on"), on.drafts()
        found = judge(compared, self.floor, self.control, drafts, self.plan)
        if check:
            whole = evaluate(self.halves, on, self.wrong, CONTROL, self.plan)
            assert (whole.verdict, whole.reasons) == found
            assert (whole.on, whole.floor) == (compared, self.floor)
            assert whole.control == self.control
        return found[0]


def verdicts(seed):
    """Fault → verdict; those of one seed are held against the whole test's."""
    usual, penalized = Run(seed, 0.0), Run(seed, PENALTY)
    return {
        fault: (penalized if fault == "dropped penalty" else usual).verdict(
            fault, check=seed == 0
        )
        for fault in FAULTS
    }


@pytest.fixture(scope="module")
def runs():
    return [verdicts(seed) for seed in range(40)]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found_in_95_percent(runs, fault):
    found = [verdict[fault] for verdict in runs]
    assert found.count("fail") >= 0.95 * len(found)
