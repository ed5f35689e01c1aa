"""What is kept of another tool's result: its numbers, under its names."""

from __future__ import annotations

from pydantic import Field, JsonValue

from trtspec.bench.records import Record


class ForeignMetric(Record):
    """One metric, as the tool defines it."""

    name: str = Field(description="The tool's own name of it.")
    unit: str = Field(description="The tool's unit; empty if it gives none.")
    value: float | None = Field(
        default=None, description="The one value of a whole run, such as a throughput."
    )
    mean: float | None = Field(default=None, description="Mean over requests.")
    p50: float | None = Field(default=None, description="Median over requests.")
    p95: float | None = Field(default=None, description="95th percentile.")
    p99: float | None = Field(default=None, description="99th percentile.")


class ForeignResult(Record):
    """A result that another tool wrote; nothing here compares it with ours."""

    tool: str = Field(description="aiperf or trtllm-bench.")
    tool_version: str | None = Field(description="Its version; null if not told.")
    file: str = Field(description="Name of the file that was read.")
    requests: int | None = Field(default=None, description="Requests that succeeded.")
    failed: int | None = Field(default=None, description="Requests that failed.")
    metrics: tuple[ForeignMetric, ...] = Field(description="In the file's order.")
    acceptance: dict[str, JsonValue] | None = Field(
        default=None, description="What it says of drafting; null if nothing."
    )
    conditions: dict[str, JsonValue] = Field(
        default_factory=dict, description="What it says of model, machine and load."
    )
    caveats: tuple[str, ...] = Field(
        default=(), description="How its numbers differ in meaning from ours."
    )

    def metric(self, name: str) -> ForeignMetric | None:
        """Find a metric by the tool's name."""
        return next((m for m in self.metrics if m.name == name), None)
