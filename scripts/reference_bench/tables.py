"""How a comparison of methods reads: conditions, tables, one document of it all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from reference_bench.openings import OFF, Load, Opened
from reference_bench.turns import Raw, all_categories
from trtspec.bench.conditions import Conditions
from trtspec.bench.metrics import (
    AcceptanceLength,
    AcceptanceRate,
    DraftingShare,
    Metric,
    OutputThroughput,
)
from trtspec.bench.records import Block, Sample
from trtspec.bench.sentences import (
    busy_warning,
    describe_speculation,
    machine_line,
    software_line,
)
from trtspec.bench.summary import Cell, summarize
from trtspec.bench.table import show_ratio

ALL = "all categories"
COLUMNS: tuple[Metric, ...] = (
    AcceptanceLength(),
    AcceptanceRate(),
    DraftingShare(),
    OutputThroughput(),
)
SCHEMA = "trtspec/bench-methods/v1"


@dataclass(frozen=True)
class Row:
    """One method on one category of prompts, beside the off arm."""

    batch: int
    category: str
    method: str
    cell: Cell


def compare(raw: Raw, methods: Sequence[Opened], load: Load) -> list[Row]:
    """Compute every row from the raw records; the last category is all of them."""
    batches = dict.fromkeys(batch for batch, _, _ in raw.blocks)
    rows = []
    for batch in batches:
        for category in (*load.prompts, ALL):
            off = _records(raw, batch, category, OFF)
            for method in methods:
                if (batch, method.name) not in raw.failures:
                    on = _records(raw, batch, category, method.name)
                    rows.append(
                        Row(batch, category, method.name, _cell(batch, off, on))
                    )
    return rows


Records = tuple[list[Block], list[Sample]]


def _records(raw: Raw, batch: int, category: str, method: str) -> Records:
    if category == ALL:
        return all_categories(raw, batch, method)
    place = (batch, category, method)
    return raw.blocks[place], raw.samples[place]


def _cell(batch: int, off: Records, on: Records) -> Cell:
    """Compare as ``trtspec bench`` does; the off arm with itself is 1."""
    if on[0][0].arm == "off":
        on = (
            [block.model_copy(update={"arm": "on"}) for block in on[0]],
            [sample.model_copy(update={"arm": "on"}) for sample in on[1]],
        )
    (cell,) = summarize([batch], off[0] + on[0], off[1] + on[1], {}, greedy=True)
    return cell


def table(rows: Sequence[Row]) -> Table:
    """Lay out one category at one batch size, a method per row, in 80 columns."""
    made = Table(
        box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 0, 0, 1)
    )
    made.add_column("\nmethod", no_wrap=True)
    headers = [column.header.replace(" ", "\n") for column in COLUMNS]
    for header in (*headers, f"throughput\n/ {OFF}", "same\noutput"):
        made.add_column(header, justify="right", no_wrap=True)
    for row in rows:
        made.add_row(row.method, *_shown(row))
    return made


def _shown(row: Row) -> Iterator[str]:
    cell = row.cell
    assert cell.on is not None
    assert cell.outputs is not None
    for column in COLUMNS:
        yield column.show(cell.on.values[column.tag])
    if row.method == OFF:
        yield from ("1", "")
        return
    yield show_ratio(cell.ratios["output_throughput"])
    yield f"{cell.outputs.identical}/{cell.outputs.prompts}"


def print_comparison(
    rows: Sequence[Row], document: Mapping[str, Any], console: Console, *, brief: bool
) -> None:
    """Print conditions, tables, and what was left out.

    :param brief: only the tables of all categories together.
    """
    conditions = Conditions.model_validate(document["conditions"])
    for line in (machine_line(conditions), software_line(conditions)):
        console.print(line, soft_wrap=True, highlight=False)
    if warning := busy_warning(conditions):
        console.print(warning, soft_wrap=True, style="yellow")
    for line in _settings_lines(document):
        console.print(line, soft_wrap=True, highlight=False)
    for batch in dict.fromkeys(row.batch for row in rows):
        for category in dict.fromkeys(row.category for row in rows):
            group = [r for r in rows if (r.batch, r.category) == (batch, category)]
            if category == ALL or not brief:
                _print_group(group, console)
    console.print()
    for name, why in document["left_out"].items():
        console.print(f"{name} is left out: {why}", soft_wrap=True, highlight=False)


def _print_group(rows: Sequence[Row], console: Console) -> None:
    outputs = rows[0].cell.outputs
    assert outputs is not None
    console.print()
    title = f"batch {rows[0].batch}, {rows[0].category}, {outputs.prompts} prompts"
    console.print(title, style="bold", highlight=False)
    console.print(table(rows))
    for row in rows:
        if row.cell.lossy:
            console.print(f"{row.method}: LOSSY: {row.cell.lossy}", soft_wrap=True)


def _settings_lines(document: Mapping[str, Any]) -> Iterator[str]:
    settings = document["settings"]
    for name, method in document["methods"].items():
        yield f"{name}: {describe_speculation(method['recipe']['speculation'])}"
    files = ", ".join(f"{p['file']} {p['sha256'][:12]}" for p in document["prompts"])
    yield f"prompts: {files}; up to {settings['output_tokens']} tokens, greedy"
    yield (
        f"blocks per method and category: {settings['repeats']}, interleaved; "
        f"throughput / {OFF}: geometric mean over paired blocks [95% interval]"
    )


def document_of(
    raw: Raw,
    rows: Sequence[Row],
    methods: Sequence[Opened],
    load: Load,
    **more: Any,
) -> dict[str, Any]:
    """Put everything into one document: conditions, results, every sample.

    :param more: conditions, settings, and what else belongs at its top.
    """
    return {
        "schema": SCHEMA,
        **more,
        "prompts": [source.model_dump(mode="json") for source in load.sources],
        "methods": {m.name: m.subject.model_dump(mode="json") for m in methods},
        "failures": [
            {"batch": batch, "method": method, "why": why}
            for (batch, method), why in raw.failures.items()
        ],
        "rows": [
            {
                "batch": row.batch,
                "category": row.category,
                "method": row.method,
                "cell": row.cell.model_dump(mode="json"),
            }
            for row in rows
        ],
        "records": [
            {
                "batch": batch,
                "category": category,
                "method": method,
                "blocks": [b.model_dump(mode="json") for b in blocks],
                "samples": [
                    s.model_dump(mode="json")
                    for s in raw.samples.get((batch, category, method), [])
                ],
            }
            for (batch, category, method), blocks in raw.blocks.items()
        ],
    }
