"""What of the machine each arm used: processor, memory, GPU energy and clocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trtspec.bench.cells import Cell
from trtspec.bench.records import Resources
from trtspec.bench.sentences import CLIENT_ONLY, over_http
from trtspec.report import numbers
from trtspec.report.document import Section, Table
from trtspec.report.view import RunView

_TAGS = ("cpu_per_token", "memory", "gpu_memory", "energy_per_token")


def resources_section(view: RunView) -> Section | None:
    """Give it per load and arm; None if nothing could be read."""
    columns = ["load", "arm", *(numbers.metric(tag).header for tag in _TAGS)]
    rows = [
        _row(view, cell, name) for cell in view.measured for name in view.arms_of(cell)
    ]
    table = Table.of(
        [*columns, "SM clock MHz", "clocks held down by"], rows, words=2, last=1
    )
    if len(table.columns) == table.words + table.last:
        return None
    lead = "Over all counted blocks: means per output token, and the most memory seen."
    if over_http(view.plan):
        lead += f" {CLIENT_ONLY}"
    return Section("Resources", (table,), lead)


def _row(view: RunView, cell: Cell, name: str) -> tuple[str, ...]:
    blocks = view.raw(cell.load).blocks
    seen = [b.resources for b in blocks if b.arm == name and not b.warm_up]
    return (
        cell.load.words,
        name,
        *(numbers.arm_value(tag, cell.arms[name]) for tag in _TAGS),
        _clocks(seen),
        _reasons(seen),
    )


def _clocks(seen: Sequence[Resources]) -> str:
    """Give the slowest and the fastest clock of each GPU over the blocks."""
    found = _per_gpu([r.gpu_clock_mhz for r in seen if r.gpu_clock_mhz], _range)
    return "; ".join(found) or numbers.NOTHING


def _range(clocks: Sequence[tuple[int, int]]) -> str:
    low, high = min(c[0] for c in clocks), max(c[1] for c in clocks)
    return str(low) if low == high else f"{low} to {high}"


def _reasons(seen: Sequence[Resources]) -> str:
    found = _per_gpu(
        [r.gpu_throttled for r in seen if r.gpu_throttled],
        lambda blocks: ", ".join(sorted({reason for of in blocks for reason in of})),
    )
    return "; ".join(filter(None, found)) or numbers.NOTHING


def _per_gpu(blocks: Sequence[Sequence], tell: Callable[[Sequence], str]) -> list[str]:  # type: ignore[type-arg]
    """Tell something of each GPU from what its blocks say.

    :param blocks: per block, one entry per GPU.
    """
    if not blocks:
        return []
    return [tell([block[gpu] for block in blocks]) for gpu in range(len(blocks[0]))]
