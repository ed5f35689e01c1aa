"""What a pricing gives: costs of steps, and what stands behind each figure."""

from __future__ import annotations

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.tune.costs import Source, StepCosts
from trtspec.tune.price.overhead import Overhead


class Provenance(Record):
    """Where the figures of one table are from."""

    source: Source = Field(description="priced: measured kernels; or roofline.")
    tables: str | None = Field(
        default=None, description="Release, slot and package of the kernels' tables."
    )
    operations: dict[str, str] = Field(
        default_factory=dict,
        description="Operation → silicon (measured), empirical (a formula), estimated "
        "or mixed.",
    )
    why: str = Field(
        default="", description="Why it is a roofline; empty if it is not."
    )

    def told(self) -> str:
        """Say it in a line."""
        if self.source == "roofline":
            return (
                f"roofline of the data sheet ({self.why})"
                if self.why
                else ("roofline of the data sheet")
            )
        measured = sum(source == "silicon" for source in self.operations.values())
        return (
            f"{self.tables}; {measured} of {len(self.operations)} operations measured, "
            "the others by formula"
        )


class Priced(Record):
    """Costs of steps on a GPU that is not here.

    Two bases, as nobody has measured which one a verification kernel is nearer to:
    ``costs`` reads the cache of each request once, ``upper`` once per token.
    """

    gpu: str = Field(description="Its name.")
    gpus: int = Field(ge=1, description="How many share the target.")
    context_tokens: int = Field(
        ge=2, description="Tokens of each request in the cache."
    )
    costs: StepCosts = Field(
        description="Cache read once per request: what is chosen by."
    )
    upper: StepCosts = Field(description="Cache read once per verified token.")
    verify: Provenance = Field(description="Of the target's steps.")
    draft: Provenance | None = Field(
        description="Of the drafter's; null if it takes nothing of the GPU."
    )
    overhead: Overhead = Field(description="On the host, in every cell of drafting.")
    scale: float = Field(
        gt=0,
        description="Measured / predicted plain step that all of the GPU's times were "
        "multiplied with; 1 if none was measured.",
    )
    notes: tuple[str, ...] = Field(description="What else a reader has to know.")

    def told(self) -> list[str]:
        """Say in a few lines what the figures are."""
        many = f" x{self.gpus}" if self.gpus > 1 else ""
        host = self.overhead
        per_step = (
            f" and {host.draft_step_seconds * 1000:g} ms per forward of the drafter"
            if host.draft_step_seconds
            else ""
        )
        lines = [
            f"step costs of {self.gpu}{many}, not measured: {self.verify.told()}",
            f"context {self.context_tokens} tokens; host "
            f"{host.round_seconds * 1000:g} ms per drafting round{per_step} "
            f"({host.source})",
        ]
        if self.draft is not None and self.draft != self.verify:
            lines.insert(1, f"drafter: {self.draft.told()}")
        return [*lines, *self.notes]
