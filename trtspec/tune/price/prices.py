"""From a candidate and the name of a GPU to the costs of its steps.

By tables of measured kernels where there are some, else by the GPU's data sheet; what
neither can price is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.errors import UsageError
from trtspec.gpu_kinds import GpuKind
from trtspec.tune.candidate import Candidate
from trtspec.tune.costs import Cost, CostTable, StepCosts
from trtspec.tune.price.drafting import FREE, drafter_forwards
from trtspec.tune.price.gpu import priced_kind
from trtspec.tune.price.notes import notes
from trtspec.tune.price.overhead import Overhead, default_overhead
from trtspec.tune.price.priced import Priced
from trtspec.tune.price.subject import Subject, subject_of
from trtspec.tune.price.tables import (
    By,
    Grid,
    Measured,
    Table,
    drafts,
    first_answer,
    verifications,
)

__all__ = ["By", "Grid", "Measured", "price", "price_costs"]


def price_costs(
    candidate: Candidate,
    gpu: str,
    batches: Sequence[int],
    lengths: Sequence[int],
    context_tokens: int,
    *,
    overhead: Overhead | None = None,
    anchor: Measured | None = None,
    by: By = "best",
) -> Priced:
    """Price the steps of a candidate.

    :param gpu: a name as ``--gpu`` takes it, or aiconfigurator's, such as h200_sxm.
    :param batches: batch sizes; nothing is extrapolated beyond them later.
    :param lengths: draft tokens that the target verifies, of any candidate; of a tree
        its nodes. What this candidate drafts is priced for its own lengths.
    :param context_tokens: of each request, about the mean while it decodes.
    :param overhead: on the host; a published figure if not given.
    :param anchor: a plain step that was measured on this GPU.
    :param by: ``priced`` or ``roofline`` for that way only.
    :raises UsageError: for an unknown GPU, and for what cannot be priced.
    """
    subject = subject_of(candidate.artifact, candidate.method)
    return price(
        subject,
        priced_kind(gpu),
        Grid(tuple(batches), tuple(lengths), candidate.lengths, context_tokens),
        overhead=overhead,
        anchor=anchor,
        by=by,
    )


def price(
    subject: Subject,
    kind: GpuKind,
    grid: Grid,
    *,
    overhead: Overhead | None = None,
    anchor: Measured | None = None,
    by: By = "best",
) -> Priced:
    """Price what is described already; see ``price_costs``."""
    _require(grid)
    host = overhead or default_overhead(subject.method)
    once = first_answer(
        by, kind, lambda pricer: verifications(subject, pricer, grid, once=True)
    )
    # the band is of one and the same source
    again = first_answer(
        once.by.source,
        kind,
        lambda pricer: verifications(subject, pricer, grid, once=False),
    )
    # beside a roofline a measured drafter would look slower than it is
    way: By = "roofline" if once.by.source == "roofline" else by
    drafted = first_answer(way, kind, lambda pricer: drafts(subject, pricer, grid))
    scale = _scale(once, anchor)
    draft = _drafting(subject, drafted, host, scale)
    costs, upper = (
        StepCosts(verify=_cost_table(table, scale), draft=draft)
        for table in (once, again)
    )
    by_whom = None if subject.method.method in FREE else drafted.by
    return Priced(
        gpu=kind.name,
        gpus=subject.gpus,
        context_tokens=grid.context,
        costs=costs,
        upper=upper,
        verify=once.by,
        draft=by_whom,
        overhead=host,
        scale=scale,
        notes=tuple(
            notes(
                subject,
                grid,
                once.by,
                by_whom,
                anchor,
                host_bound=is_host_bound(costs, host),
            )
        ),
    )


def is_host_bound(costs: StepCosts, host: Overhead) -> bool:
    """Whether a plain step is priced shorter than the host's part of a round."""
    return costs.step(min(costs.verify.batches), 0) < host.round_seconds


def _require(grid: Grid) -> None:
    if grid.context < 2:
        raise UsageError(
            f"a context of {grid.context} tokens", allowed="at least 2 tokens"
        )
    if not grid.batches or not grid.drafted or min(grid.batches) < 1:
        raise UsageError("there is no batch size or draft length to price")


def _scale(table: Table, anchor: Measured | None) -> float:
    if anchor is None:
        return 1.0
    predicted = table.cells.get((anchor.batch, 1))
    if predicted is None or anchor.seconds <= 0:
        raise UsageError(
            f"a plain step of {anchor.seconds:g} s at batch {anchor.batch}",
            allowed="a time above 0, at one of the batch sizes that are priced: "
            + ", ".join(str(b) for b, width in table.cells if width == 1),
        )
    return anchor.seconds / predicted


def _cost_table(table: Table, scale: float) -> CostTable:
    return CostTable(
        source=table.by.source,
        cells=tuple(
            Cost(batch=batch, tokens=tokens, seconds=seconds * scale)
            for (batch, tokens), seconds in table.cells.items()
        ),
        reading=table.reading * scale,
    )


def _drafting(
    subject: Subject, table: Table, host: Overhead, scale: float
) -> CostTable:
    scaled = _cost_table(table, scale)
    cells = (
        cell.model_copy(
            update={
                "seconds": cell.seconds
                + host.of(drafter_forwards(subject.method, cell.tokens))
            }
        )
        for cell in scaled.cells
    )
    return scaled.model_copy(update={"cells": tuple(cells)})
