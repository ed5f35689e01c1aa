"""How gate and distribution test read: a line per thing that was looked at."""

from __future__ import annotations

from trtspec.verify.distribution.result import Comparison, DistributionResult
from trtspec.verify.gate import GateResult


def gate_lines(found: GateResult) -> list[str]:
    """Say whose configuration it is, and every value that was inspected."""
    version = f" {found.version}" if found.version else ""
    kind = {"lossless": "lossless", "lossy": "LOSSY", "cannot tell": "not settled"}
    return [
        f"{found.engine}{version}, {found.mode} requests",
        *(
            f"{each.name} = {each.value} ({each.where}): {kind[each.effect]}, "
            f"{each.meaning}"
            for each in found.inspected
        ),
        *found.caveats,
    ]


def distribution_lines(found: DistributionResult) -> list[str]:
    """Say what was compared, what it took, and what would have been seen."""
    plan = found.plan
    return [
        f"{found.requests} requests at temperature {plan.temperature:g}, top-p "
        f"{plan.top_p:g}: {len(found.on.prompts)} prompts, {plan.places} tokens of "
        f"each answer, by {found.compared}",
        _line("on against off", found.on),
        _line("off against off", found.floor),
        _line(f"negative control ({found.control_says})", found.control),
    ]


def _line(name: str, one: Comparison) -> str:
    word = "differs" if one.differs else "no difference"
    least = one.smallest_shift
    seen = "none could be seen" if least is None else f"{least:.2g} would be seen"
    return (
        f"{name}: {word}, p = {one.p_value:.2g} (level {one.level:.2g}), "
        f"{one.sizes[0]} and {one.sizes[1]} answers per prompt; shift about "
        f"{one.shift:.2g}, of shifts {seen}"
    )
