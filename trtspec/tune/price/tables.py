"""Which way of pricing has an answer, and what it says for every cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from trtspec.errors import UsageError
from trtspec.gpu_kinds import GpuKind
from trtspec.tune.costs import Source
from trtspec.tune.price.drafting import drafting
from trtspec.tune.price.gpu import OPTION, system_of
from trtspec.tune.price.kernels import Kernels, kernels_of
from trtspec.tune.price.parts import NoPriceError, Pricer
from trtspec.tune.price.priced import Provenance
from trtspec.tune.price.roofline import Roofline
from trtspec.tune.price.subject import Subject

By = Literal["best", "priced", "roofline"]


class Grid(NamedTuple):
    """For what steps are priced.

    :ivar verified: draft tokens that the target reads.
    :ivar drafted: draft lengths that the drafter is asked for.
    """

    batches: tuple[int, ...]
    verified: tuple[int, ...]
    drafted: tuple[int, ...]
    context: int


class Measured(NamedTuple):
    """One plain step that was measured: all predictions are scaled by it."""

    batch: int
    seconds: float


class Table(NamedTuple):
    """Of what the GPU does, by batch and tokens, and how it was found."""

    cells: dict[tuple[int, int], float]
    by: Provenance
    reading: float


def first_answer(
    by: By | Source, kind: GpuKind, ask: Callable[[Pricer], Table]
) -> Table:
    """Ask the ways of pricing in their order; the first that has an answer counts.

    :raises UsageError: if none has one, with the reason of each.
    """
    reasons: list[str] = []
    for way, opened in _ways(kind):
        if by not in ("best", way):
            continue
        try:
            table = ask(opened())
        except NoPriceError as error:
            reasons.append(str(error))
            continue
        if way == "priced" or not reasons:
            return table
        why = table.by.model_copy(update={"why": reasons[0]})
        return table._replace(by=why)
    raise UsageError(
        f"no price on {kind.name}: {'; '.join(reasons)}",
        where=OPTION,
        allowed="a GPU and a model that aiconfigurator-core has kernels of, or a dense "
        "model on a GPU with a data sheet",
        action="measure its steps where it runs",
    )


def _ways(kind: GpuKind) -> tuple[tuple[Source, Callable[[], Pricer]], ...]:
    return (
        ("priced", lambda: kernels_of(system_of(kind))),
        ("roofline", lambda: Roofline(kind)),
    )


def verifications(subject: Subject, pricer: Pricer, grid: Grid, *, once: bool) -> Table:
    """Price the target's steps, the plain one among them."""
    widths = sorted({1, *(1 + length for length in grid.verified)})
    cells = {
        (batch, width): pricer.forward(
            subject.target, batch, width, grid.context, once=once
        )
        for batch in sorted(set(grid.batches))
        for width in widths
    }
    reading = pricer.reading(subject.target, grid.context)
    return Table(cells, _provenance(pricer), reading)


def drafts(subject: Subject, pricer: Pricer, grid: Grid) -> Table:
    """Price what the drafter does on the GPU."""
    seconds = drafting(subject, pricer, grid.context)
    cells = {
        (batch, length): seconds(batch, length)
        for batch in sorted(set(grid.batches))
        for length in sorted(set(grid.drafted))
    }
    draft = subject.draft
    reading = pricer.reading(draft, grid.context) if draft is not None else 0.0
    return Table(cells, _provenance(pricer), reading)


def _provenance(pricer: Pricer) -> Provenance:
    if isinstance(pricer, Kernels):
        used = dict(sorted(pricer.used.items()))
        return Provenance(source="priced", tables=pricer.tables, operations=used)
    return Provenance(source="roofline")
