"""How much of what was drafted became output, and which source says so."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Acceptance figures of one source; None is what the source does not tell.

    :param drafted: draft tokens really proposed; None or 0 without a counter.
    :param accepted: those of them that the target model accepted.
    :param steps: verification steps that had a draft.
    :param tokens: output tokens that the figures cover.
    :param source: where they come from, such as ``specDecodingStats``.
    :param tokens_per_iteration: mean as TensorRT-LLM reported it, for want of counts.
    :param note: what a reader must know to use them; may be empty.
    :param unavailable: why there are no figures; empty if there are some.
    """

    drafted: int | None = None
    accepted: int | None = None
    steps: int | None = None
    tokens: int | None = None
    source: str = ""
    tokens_per_iteration: float | None = None
    note: str = ""
    unavailable: str = ""

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted tokens; None without a counter, never 0 for that."""
        if not self.drafted or self.accepted is None:
            return None
        return self.accepted / self.drafted

    @property
    def acceptance_length(self) -> float | None:
        """Tokens per verification step, bonus token included: 1 + accepted / steps."""
        if self.steps and self.accepted is not None:
            return 1 + self.accepted / self.steps
        return self.tokens_per_iteration

    @property
    def is_known(self) -> bool:
        """Whether the source gives any figure."""
        return self.acceptance_rate is not None or self.acceptance_length is not None

    def says(self) -> str:
        """Put the figures into words, with their source and what limits them."""
        if not self.is_known:
            why = self.unavailable or "it counted nothing"
            return f"acceptance not available from {self.source}: {why}"
        parts = [*self._rate(), *self._length()]
        text = f"{', '.join(parts)} (from {self.source})"
        return f"{text}; {self.note}" if self.note else text

    def _rate(self) -> tuple[str, ...]:
        rate = self.acceptance_rate
        if rate is None:
            return ("acceptance rate not available",)
        return (
            f"acceptance rate {rate:.1%} ({self.accepted} of {self.drafted} drafted "
            "tokens)",
        )

    def _length(self) -> tuple[str, ...]:
        length = self.acceptance_length
        if length is None:
            return ("acceptance length not available",)
        over = f" over {self.steps} verification steps" if self.steps else ""
        return (f"acceptance length {length:.2f}{over}",)


def unavailable(source: str, why: str) -> Acceptance:
    """Say that a source has no figures, and why."""
    return Acceptance(source=source, unavailable=why)


def join(*sentences: str) -> str:
    """Join notes, leaving out empty ones."""
    return "; ".join(filter(None, sentences))
