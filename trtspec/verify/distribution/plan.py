"""What is asked for a distribution test, how often, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.errors import UsageError
from trtspec.run import SamplingParams
from trtspec.verify.distribution.power import Null, effective, non_centrality

TEMPERATURE = 0.7
TOP_P = 0.9
"""Both away from 1: where 1 is asked for, it cannot be seen that it is ignored."""
SHIFT = 0.12
POWER = 0.95
LEVEL = 0.05
OFF_PER_ON = 2

_GLOBAL = 0.6
"""Part of the level for the global statistic; the rest is for single prompts."""
_CELLS = 12
_INFLATION = 2.0
"""Guesses before anything is asked: cells per table, and how much more the statistic
varies than it would if places did not depend on one another."""
_MOST = 20_000


class Plan(Record):
    """A sampling plan. It is fixed before the first request is sent."""

    temperature: float = Field(
        default=TEMPERATURE, gt=0, description="Temperature of every request."
    )
    top_k: int = Field(default=0, ge=0, description="Top-k; 0 keeps all.")
    top_p: float = Field(default=TOP_P, gt=0, le=1, description="Top-p; 1 keeps all.")
    seeds: int = Field(ge=2, description="Requests per prompt in the on arm.")
    places: int = Field(
        default=5,
        ge=2,
        description="Tokens compared, the first included. The first comes from the "
        "prefill and is only looked at as what the second one follows.",
    )
    spare: int = Field(
        default=3,
        ge=1,
        description="Tokens asked for beyond those: the last that fits is no draft.",
    )
    concurrency: int = Field(default=8, ge=1, description="Requests in flight.")
    seed: int = Field(
        default=0, ge=0, description="Decides all requests' seeds and all permutations."
    )
    level: float = Field(
        default=LEVEL,
        gt=0,
        lt=1,
        description="Largest chance to call it a fault when there is none.",
    )
    looks: int = Field(
        default=1,
        ge=1,
        description="How often the same thing will be tested: the level is shared.",
    )
    floor_level: float = Field(
        default=0.01,
        gt=0,
        lt=1,
        description="The same for off against off, where it means: cannot tell.",
    )
    power: float = Field(
        default=POWER, gt=0, lt=1, description="Wanted chance to find a shift."
    )
    shift: float = Field(
        default=SHIFT,
        gt=0,
        le=1,
        description="The smallest shift to be found, as total variation at every place "
        "of every prompt.",
    )
    permutations: int = Field(
        default=999, ge=99, description="Ways to deal labels that are tried."
    )

    @property
    def sampling(self) -> SamplingParams:
        """What every request asks for but its seed."""
        return SamplingParams(self.temperature, self.top_k, self.top_p)

    @property
    def max_tokens(self) -> int:
        """Most tokens of an answer."""
        return self.places + self.spare

    @property
    def off_seeds(self) -> int:
        """Requests per prompt in the off arm, both halves together."""
        return OFF_PER_ON * self.seeds

    @property
    def global_level(self) -> float:
        """Level of the statistic over all prompts."""
        return global_level(self.level / self.looks)

    @property
    def prompt_level(self) -> float:
        """Rate of false discoveries among prompts."""
        return self.level / self.looks - self.global_level

    def permutations_for(self, prompts: int) -> int:
        """Enough of them that one prompt's p-value can be small enough."""
        return max(self.permutations, ceil(2 * prompts / self.prompt_level))

    def requests(self, prompts: int) -> dict[str, int]:
        """Give the requests of each arm."""
        one = prompts * self.seeds
        return {"on": one, "off": OFF_PER_ON * one, "control": one}

    def cost(self, prompts: int) -> str:
        """Say what it costs."""
        each = self.requests(prompts)
        total = sum(each.values())
        return (
            f"{prompts} prompts: {each['on']} requests on, {each['off']} off, "
            f"{each['control']} to the negative control, {total} in all with up to "
            f"{self.max_tokens} tokens each ({total * self.max_tokens} tokens); finds "
            f"a shift of {self.shift:g} everywhere with a chance of {self.power:.0%}"
        )


def global_level(level: float) -> float:
    """Give the part of a level that the global statistic has."""
    return _GLOBAL * level


def make_plan(
    prompts: int, shift: float = SHIFT, power: float = POWER, **options: object
) -> Plan:
    """Choose how many requests a wanted power takes.

    Before anything is known of the answers, so with a guess of how many cells there
    will be; the result says what could really be found.

    :param prompts: how many different prompts there are.
    :param shift: smallest total variation to be found, at every place of every prompt.
    :param options: further fields of ``Plan``.
    :raises UsageError: if no reasonable number of requests is enough.
    """
    start = Plan.model_validate({"seeds": 2, "shift": shift, "power": power, **options})
    tables = prompts * (start.places - 1)
    seeds = smallest_seeds(start, tables, lambda n: effective(n, OFF_PER_ON * n))
    return start.model_copy(update={"seeds": seeds})


def smallest_seeds(plan: Plan, tables: int, worth: Callable[[int], float]) -> int:
    """Give the fewest requests per prompt that find the plan's shift with its power.

    :param tables: prompts times places.
    :param worth: what so many requests are worth: see ``non_centrality``.
    :raises UsageError: if no reasonable number is enough.
    """
    mean = float(tables * (_CELLS - 1))
    null = Null(mean, 2 * mean * _INFLATION)

    def reached(seeds: int) -> bool:
        added = non_centrality(plan.shift, worth(seeds), tables)
        return null.power(added, plan.global_level) >= plan.power

    if not reached(_MOST):
        raise UsageError(
            f"a shift of {plan.shift:g} takes more than {_MOST} requests per prompt",
            allowed="a larger shift, more prompts, or a smaller power",
        )
    return _smallest(reached)


def _smallest(reached: Callable[[int], bool]) -> int:
    low, high = 2, _MOST
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return low
