"""Whether sampled tokens follow the distribution that the reference engine gives.

Both arms and a control are asked for a few tokens behind chosen texts, each time with a
seed of its own; every token is then judged after the text that it really followed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from trtspec.verify.arm import Answer, Arm
from trtspec.verify.distribution.collect import Collected, Prompts, ask
from trtspec.verify.distribution.discovery import benjamini_hochberg
from trtspec.verify.distribution.gtest import Floats, Ints
from trtspec.verify.distribution.plan import SHIFT, Plan, smallest_seeds
from trtspec.verify.distribution.power import Null, as_shift, smallest_shift
from trtspec.verify.oracle.exact import Row, Tested, combined, place_test
from trtspec.verify.oracle.judging import judge
from trtspec.verify.oracle.positions import Position
from trtspec.verify.oracle.record import OracleSampled, PositionFound, SampledArm
from trtspec.verify.oracle.symbols import Symbols

PLACES = 3
SEED = 1
"""Of the plan: other seeds than those of the distribution test."""
Path = tuple[int, ...]


class After(Protocol):
    """What the reference engine says may follow a text."""

    @property
    def p(self) -> Floats:
        """Probabilities [vocabulary], restricted as requests ask."""
        ...

    @property
    def moved(self) -> float:
        """By how much they move when logits are rounded anew."""
        ...


@dataclass(frozen=True, slots=True)
class Judge:
    """The reference engine, as far as sampled tokens go.

    :param words: what it is.
    :param symbols: how tokens are told apart.
    :param after: what may come after a text (first argument) and each path behind it.
    :param compared: what tokens are told apart by, in words.
    """

    words: str
    symbols: Symbols
    after: Callable[[Path, Sequence[Path]], Sequence[After]]
    compared: str = "token ids"


def make_oracle_plan(positions: int, shift: float = SHIFT, **options: object) -> Plan:
    """Choose how many requests each position takes; see ``make_plan``.

    The reference's distribution is known without asking, so fewer are enough.
    """
    given = {"places": PLACES, "spare": 2, "seed": SEED, **options}
    start = Plan.model_validate({"seeds": 2, "shift": shift, **given})
    seeds = smallest_seeds(start, positions * start.places, lambda seeds: seeds)
    return start.model_copy(update={"seeds": seeds})


def oracle_requests(plan: Plan, positions: int) -> str:
    """Say what it costs."""
    total = 3 * positions * plan.seeds
    return (
        f"{positions} texts: {plan.seeds} requests each to off, on and the negative "
        f"control, {total} in all with up to {plan.max_tokens} tokens each; finds a "
        f"shift of {plan.shift:g} everywhere with a chance of {plan.power:.0%}"
    )


def sampled_oracle(
    arms: tuple[Arm, Arm, Arm],
    positions: Sequence[Position],
    plan: Plan,
    reference: Judge,
    prompts: Prompts | None = None,
) -> OracleSampled:
    """Ask all arms behind each text, judge, and give the verdict.

    :param arms: off, on, and one that is wrong on purpose.
    :param positions: different texts; none makes no test.
    :param prompts: what is asked at each position, by its id, where that is not its
        text as token ids.
    :raises RunError: if a request fails.
    """
    given = prompts or {one.id: one.text for one in positions}
    asked = [
        ask(arm, given, plan, number * plan.seeds, plan.seeds)
        for number, arm in enumerate(arms)
    ]
    return judge_sampled(
        dict(zip((arm.name for arm in arms), asked, strict=True)),
        positions,
        plan,
        reference,
    )


def judge_sampled(
    asked: Mapping[str, Collected],
    positions: Sequence[Position],
    plan: Plan,
    reference: Judge,
) -> OracleSampled:
    """Judge answers that are there already.

    :param asked: by arm: off, on, control, in this order.
    """
    tables = {name: _Tables(name) for name in asked}
    moved: list[float] = []
    for position in positions:
        answers = {name: some.by_prompt[position.id] for name, some in asked.items()}
        moved += _look(answers, position, plan, reference, tables)
    levels = [
        (plan.floor_level, plan.floor_level),
        *[(plan.global_level, plan.prompt_level)] * 2,
    ]
    off, on, control = (
        one.arm(plan, *both) for one, both in zip(tables.values(), levels, strict=True)
    )
    drafts = list(asked.values())[1].drafts()
    rounding = float(np.mean(moved)) if moved else 0.0
    verdict, reasons = judge(off, on, control, drafts, rounding)
    return OracleSampled(
        verdict=verdict,
        reasons=reasons,
        reference=reference.words,
        plan=plan,
        compared=reference.compared,
        requests=sum(len(one.answers) for one in asked.values()),
        drafts=drafts,
        rounding=rounding,
        off=off,
        on=on,
        control=control,
    )


def _look(
    answers: Mapping[str, Sequence[Answer]],
    position: Position,
    plan: Plan,
    reference: Judge,
    tables: Mapping[str, _Tables],
) -> list[float]:
    """Test all arms at one position; gives how much rounding moves it."""
    counted = {
        name: _counted(some, reference.symbols, plan.places)
        for name, some in answers.items()
    }
    paths = sorted({path for one in counted.values() for path in one}, key=_by_length)
    if not paths:
        return []
    found = reference.after(position.text, paths)
    known = {
        path: reference.symbols.folded(after.p)
        for path, after in zip(paths, found, strict=True)
    }
    for name, by_path in counted.items():
        tables[name].add(position, len(answers[name]), by_path, known, plan)
    return [after.moved for after in found]


def _by_length(path: Path) -> tuple[int, Path]:
    return len(path), path


def _counted(
    answers: Sequence[Answer], symbols: Symbols, places: int
) -> dict[Path, Ints]:
    """Count which symbol came after each path."""
    size = len(symbols.single)
    found: dict[Path, Ints] = defaultdict(lambda: np.zeros(size, np.int64))
    for answer in answers:
        said = symbols.read(answer, places)
        for place, symbol in enumerate(said):
            path = symbols.path(said[:place])
            if path is None:
                break
            found[path][symbol] += 1
    return dict(found)


class _Tables:
    """One arm's statistics, position by position."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._positions: list[tuple[Position, int, int, dict[int, Tested]]] = []
        self._tokens = self._outside = self._likeliest = 0
        self._wanted = 0.0

    def add(
        self,
        position: Position,
        answers: int,
        counted: Mapping[Path, Ints],
        known: Mapping[Path, Floats],
        plan: Plan,
    ) -> None:
        """Test the tokens at one position."""
        places: dict[int, list[Row]] = defaultdict(list)
        for path, counts in counted.items():
            row = Row(known[path], counts)
            places[len(path)].append(row)
            best = int(row.p.argmax())
            self._tokens += row.answers
            self._outside += int(counts[row.p <= 0].sum())
            self._likeliest += int(counts[best])
            self._wanted += row.answers * float(row.p[best])
        rng = np.random.default_rng(
            [plan.seed, position.after, len(self._positions), *self.name.encode()]
        )
        tested = {
            place: place_test(places[place], plan.permutations, rng)
            for place in sorted(places)
        }
        self._positions.append((position, answers, len(counted), tested))

    def arm(self, plan: Plan, level: float, position_level: float) -> SampledArm:
        """Put the positions together.

        :param level: of the statistic over all positions.
        :param position_level: rate of false discoveries among positions.
        """
        all_tested = [one for *_, tested in self._positions for one in tested.values()]
        real = sum(one.real for one in all_tested)
        mean = sum(float(one.null.mean()) for one in all_tested)
        variance = sum(float(one.null.var()) for one in all_tested)
        tables, size = len(all_tested), self._tokens / max(1, len(all_tested))
        total = max(1, self._tokens)
        return SampledArm(
            arm=self.name,
            tokens=self._tokens,
            statistic=real,
            expected=mean,
            spread=variance**0.5,
            p_value=self._p_value(),
            level=level,
            shift=as_shift(real - mean, size, tables),
            smallest_shift=smallest_shift(
                Null(mean, variance), size, tables, level, plan.power
            ),
            outside=self._outside,
            likeliest=self._likeliest / total,
            likeliest_expected=min(1.0, self._wanted / total),
            positions=self._found(position_level),
        )

    def _p_value(self) -> float:
        """Combine, place by place, what all positions have there."""
        by_place: dict[int, list[Tested]] = defaultdict(list)
        for *_, tested in self._positions:
            for place, one in tested.items():
                by_place[place].append(one)
        summed = [
            Tested(
                sum(one.real for one in some),
                np.sum([one.null for one in some], axis=0),
                sum(one.cells for one in some),
            )
            for some in by_place.values()
        ]
        return combined([one.p for one in summed])

    def _found(self, rate: float) -> tuple[PositionFound, ...]:
        p_values = [
            combined([one.p for one in tested.values()])
            for *_, tested in self._positions
        ]
        discovered = benjamini_hochberg(p_values, rate) if p_values else ()
        return tuple(
            PositionFound(
                prompt_id=position.prompt_id,
                after=position.after,
                answers=answers,
                contexts=contexts,
                cells=sum(one.cells for one in tested.values()),
                p_value=p,
                found=bool(found),
            )
            for (position, answers, contexts, tested), p, found in zip(
                self._positions, p_values, discovered, strict=True
            )
        )
