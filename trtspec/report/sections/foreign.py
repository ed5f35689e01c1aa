"""What another tool measured, in its own words; no claim is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.bench.interchange import ForeignMetric, ForeignResult
from trtspec.report import numbers
from trtspec.report.document import (
    Block,
    Bullets,
    Chapter,
    Facts,
    Note,
    Section,
    Table,
)
from trtspec.report.secrets import without_secrets

_COLUMNS = ("metric", "unit", "value", "mean", "p50", "p95", "p99")


def foreign_chapter(found: ForeignResult) -> Chapter:
    """Give its metrics, acceptance and conditions as they stand in the file."""
    tool = f"{found.tool} {found.tool_version or ''}".strip()
    sections = [Section("Metrics", tuple(_metrics(found)))]
    if found.acceptance:
        sections.append(Section("Acceptance", (_facts(found.acceptance),)))
    if found.conditions:
        sections.append(Section("Conditions", (_facts(found.conditions),)))
    return Chapter(found.file, f"Result of {tool}", (), tuple(sections))


def _metrics(found: ForeignResult) -> Iterator[Block]:
    yield Note(
        "info",
        f"Measured by {found.tool}; no paired off arm, so no claim. Metrics are as "
        "that tool defines them.",
    )
    if found.failed:
        yield Note("warning", f"{numbers.count(found.failed)} requests failed.")
    if found.caveats:
        yield Bullets(found.caveats)
    if found.requests is not None:
        yield Facts((("requests that succeeded", numbers.count(found.requests)),))
    yield Table.of(_COLUMNS, [_row(metric) for metric in found.metrics], words=2)


def _row(metric: ForeignMetric) -> tuple[str, ...]:
    figures = (metric.value, metric.mean, metric.p50, metric.p95, metric.p99)
    return (metric.name, metric.unit, *map(_figure, figures))


def _figure(value: float | None) -> str:
    """Write four digits, more of large numbers: the unit is not ours to choose."""
    if value is None:
        return numbers.NOTHING
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


def _facts(values: Mapping[str, object]) -> Block:
    return Facts(
        tuple(
            (str(name).replace("_", " "), without_secrets(numbers.value_text(value)))
            for name, value in values.items()
        )
    )
