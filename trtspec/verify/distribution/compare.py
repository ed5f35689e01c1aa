"""Whether two samples of answers come from one distribution, prompt by prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from trtspec.verify.distribution.cells import cells_at, coded
from trtspec.verify.distribution.discovery import benjamini_hochberg
from trtspec.verify.distribution.gtest import Floats
from trtspec.verify.distribution.permutation import g_of_deals, p_value
from trtspec.verify.distribution.plan import Plan
from trtspec.verify.distribution.power import (
    Null,
    as_shift,
    effective,
    smallest_shift,
)
from trtspec.verify.distribution.result import Comparison, PromptComparison
from trtspec.verify.distribution.symbols import Symbol

Answers = Sequence[tuple[Symbol, ...]]
LEAST_EXPECTED = 3.0
"""Answers that a cell is expected to have in the smaller sample, or it is pooled."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Answers of one arm.

    :param by_prompt: id of the prompt → symbols of each answer.
    """

    name: str
    by_prompt: Mapping[str, Answers]

    def __add__(self, other: Sample) -> Sample:
        """Put two samples of one arm together."""
        prompts = self.by_prompt
        both = {one: [*prompts[one], *other.by_prompt[one]] for one in prompts}
        return Sample(self.name, both)


@dataclass(frozen=True, slots=True)
class _Tested:
    """One prompt's statistic, as it is and for labels dealt anew."""

    real: float
    null: Floats
    cells: int


def compare(
    first: Sample, second: Sample, plan: Plan, level: float, prompt_level: float
) -> Comparison:
    """Test whether two samples differ.

    :param level: of the statistic over all prompts.
    :param prompt_level: rate of false discoveries among prompts.
    """
    # numpy seeds by any ints: the names keep tests of one plan apart
    names = [
        int.from_bytes(one.encode(), "little") for one in (first.name, second.name)
    ]
    rng = np.random.default_rng([plan.seed, *names])
    times = plan.permutations_for(len(first.by_prompt))
    tested = {
        prompt: _test(answers, second.by_prompt[prompt], times, rng)
        for prompt, answers in first.by_prompt.items()
    }
    real = sum(one.real for one in tested.values())
    null = np.sum([one.null for one in tested.values()], axis=0)
    prompts = _by_prompt(tested, first, second, prompt_level)
    sizes = _size(first), _size(second)
    size, tables = effective(*sizes), len(tested) * (plan.places - 1)
    usual = _usual(tested)
    one_level = prompt_level / len(tested)
    return Comparison(
        first=first.name,
        second=second.name,
        sizes=sizes,
        statistic=real,
        expected=float(null.mean()),
        spread=float(null.std()),
        p_value=p_value(real, null),
        level=level,
        shift=as_shift(real - float(null.mean()), size, tables),
        smallest_shift=smallest_shift(
            Null(float(null.mean()), float(null.var())), size, tables, level, plan.power
        ),
        smallest_shift_in_one=smallest_shift(
            usual, size, plan.places - 1, one_level, plan.power
        ),
        repeats=(repeats(first), repeats(second)),
        prompts=prompts,
    )


def _test(
    first: Answers, second: Answers, times: int, rng: np.random.Generator
) -> _Tested:
    """Test one prompt at every place but the first."""
    both = [*first, *second]
    smaller = min(len(first), len(second))
    least = ceil(LEAST_EXPECTED * len(both) / smaller)
    codes = coded(both)
    places = [cells_at(codes, place, least) for place in range(1, codes.shape[1])]
    real, null = g_of_deals(places, len(first), times, rng)
    return _Tested(real, null, sum(int(cells.max()) + 1 for cells in places))


def _by_prompt(
    tested: Mapping[str, _Tested], first: Sample, second: Sample, rate: float
) -> tuple[PromptComparison, ...]:
    p_values = [p_value(one.real, one.null) for one in tested.values()]
    found = benjamini_hochberg(p_values, rate)
    return tuple(
        PromptComparison(
            prompt=prompt,
            cells=one.cells,
            statistic=one.real,
            expected=float(one.null.mean()),
            p_value=p,
            found=bool(discovered),
            distinct=(
                distinct(first.by_prompt[prompt]),
                distinct(second.by_prompt[prompt]),
            ),
        )
        for (prompt, one), p, discovered in zip(
            tested.items(), p_values, found, strict=True
        )
    )


def _usual(tested: Mapping[str, _Tested]) -> Null:
    """Give the null distribution of a prompt in the middle."""
    nulls = [(float(one.null.mean()), float(one.null.var())) for one in tested.values()]
    return Null(*sorted(nulls)[len(nulls) // 2])


def _size(sample: Sample) -> int:
    return min(len(answers) for answers in sample.by_prompt.values())


def distinct(answers: Answers) -> float:
    """Give the share of different answers: 1 / answers if all are the same."""
    return len(set(answers)) / len(answers)


def repeats(sample: Sample) -> float:
    """Give the share of pairs of answers to one prompt that are equal.

    Simpson's index (Nature 163, 1949), without bias, averaged over prompts: an estimate
    of the sum of squared probabilities of whole answers.
    """
    shares = [
        sum(count * (count - 1) for count in Counter(answers).values())
        / (len(answers) * (len(answers) - 1))
        for answers in sample.by_prompt.values()
    ]
    return float(np.mean(shares))
