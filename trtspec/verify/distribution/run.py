"""Whether sampled answers with speculation follow the same distribution as without."""

from __future__ import annotations

from trtspec.verify.arm import Arm
from trtspec.verify.distribution.collect import (
    Collected,
    Prompts,
    ask,
    require_different,
)
from trtspec.verify.distribution.compare import compare
from trtspec.verify.distribution.judge import judge
from trtspec.verify.distribution.plan import Plan
from trtspec.verify.distribution.result import DistributionResult
from trtspec.verify.distribution.symbols import only_text


def distribution_test(
    off: Arm, on: Arm, control: Arm, prompts: Prompts, plan: Plan
) -> DistributionResult:
    """Ask all arms, compare, and give the verdict.

    Off is asked in two halves, before and after on, so that the floor would see what
    changes with time.

    :param control: a knowingly wrong arm, which must be found.
    :raises UsageError: if there are no prompts, or two are the same.
    :raises RunError: if a request fails.
    """
    require_different(prompts)
    seeds = plan.seeds
    before = ask(off, prompts, plan, 0, seeds)
    answers = ask(on, prompts, plan, seeds, seeds)
    after = ask(off, prompts, plan, 2 * seeds, plan.off_seeds - seeds)
    wrong = ask(control, prompts, plan, seeds + plan.off_seeds, seeds)
    return evaluate((before, after), answers, wrong, control.name, plan)


def evaluate(
    halves: tuple[Collected, Collected],
    on: Collected,
    control: Collected,
    control_says: str,
    plan: Plan,
) -> DistributionResult:
    """Compare answers that are there already.

    :param halves: of the off arm; they must not share seeds with anything else.
    """
    collected = (*halves, on, control)
    answers = [one for some in collected for one in some.answers]
    as_text = only_text(answers)
    names = ("off", "off again", "on", control_says)
    before, after, first, wrong = (
        some.sample(name, plan, as_text=as_text)
        for name, some in zip(names, collected, strict=True)
    )
    off = before + after
    levels = plan.global_level, plan.prompt_level
    compared = compare(first, off, plan, *levels)
    floor = compare(before, after, plan, plan.floor_level, plan.floor_level)
    found = compare(wrong, off, plan, *levels)
    verdict, reasons = judge(compared, floor, found, on.drafts(), plan)
    return DistributionResult(
        verdict=verdict,
        reasons=reasons,
        plan=plan,
        compared="pieces of text" if as_text else "token ids",
        requests=len(answers),
        drafts=on.drafts(),
        on=compared,
        floor=floor,
        control=found,
        control_says=control_says,
    )
