"""How small a gap between two logits says nothing: the rounding of their number format.

Both arms compute the same two logits, with their sums in another order. In a format
with p bits behind the leading one, numbers from 2^e to 2^(e+1) lie 2^(e-p) apart: one
step. Each of the two logits is rounded in each of the two arms, by half a step at most:
together two steps. What the layers before have rounded comes on top, and differs from
model to model, so it is measured where the off arm can be scored: one text, read one
token at a time as plain decoding does, and several at a time as verification does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

from pydantic import Field

from trtspec.bench.records import Record

Dtype = Literal["bfloat16", "float16", "float32"]
DTYPES: tuple[Dtype, ...] = get_args(Dtype)
_BITS: dict[Dtype, int] = {"bfloat16": 7, "float16": 10, "float32": 23}
STEPS: dict[Dtype, float] = {"bfloat16": 4.0, "float16": 4.0, "float32": 256.0}
"""Steps of the format that a near tie may span: twice the two that rounding the logits
alone can make, for what the layers before add. In float32 the logits' own step is far
below what sums of hundreds of products differ by in another order, hence more."""
MOST_STEPS: dict[Dtype, float] = {"bfloat16": 16.0, "float16": 64.0, "float32": 4096.0}
"""Steps up to which a measured spread may widen the tolerance: beyond it an engine does
not differ from itself by rounding, and a real divergence would hide behind it."""
WIDER = 2.0
"""Times the largest difference that was measured: on a hundred places or so, where a
run has thousands, and among them larger ones."""
USUAL_LOGIT = 16.0
"""Assumed where only probabilities are told: the largest logits of language models lie
from 16 to 32, whose step this is."""


class Spread(Record):
    """How far the off arm's own gaps move when a text is read in another shape."""

    positions: int = Field(ge=1, description="Places compared.")
    width: int = Field(
        ge=1, description="Tokens per forward of the second reading; the first has 1."
    )
    median: float = Field(ge=0, description="Median difference of the gap.")
    largest: float = Field(ge=0, description="Largest difference of the gap.")


class Tolerance(Record):
    """Up to which gap between two logits a difference is a near tie."""

    dtype: Dtype = Field(description="Number format of the logits.")
    dtype_from: str = Field(description="Who says so: artifact, user, or assumed.")
    steps: float = Field(description="Steps of that format that it spans at least.")
    spread: Spread | None = Field(
        default=None, description="Measured on the off arm; null: it cannot be scored."
    )

    def at(self, logit: float = USUAL_LOGIT) -> float:
        """Give the largest gap of a near tie between logits of this size."""
        step = step_of(self.dtype, logit)
        widened = min(WIDER * self._measured, self.most_at(logit))
        return max(self.steps * step, widened)

    def most_at(self, logit: float = USUAL_LOGIT) -> float:
        """Give the gap that no tolerance exceeds, whatever was measured."""
        return MOST_STEPS[self.dtype] * step_of(self.dtype, logit)

    @property
    def _measured(self) -> float:
        return self.spread.largest if self.spread else 0.0

    @property
    def unsteady(self) -> bool:
        """Whether the off arm differs from itself by more than rounding."""
        return self._measured > self.most_at()

    @property
    def words(self) -> str:
        """Say it to a reader, with its reason."""
        text = (
            f"a gap up to {self.at():.3g} for logits from {USUAL_LOGIT:g} to "
            f"{2 * USUAL_LOGIT:g} is a near tie: {self.steps:g} steps of {self.dtype} "
            f"({self.dtype_from})"
        )
        if self.spread is None:
            return f"{text}; not measured"
        seen = self.spread
        return (
            f"{text}, or {WIDER:g} times what was measured: off alone, read 1 and "
            f"{seen.width} tokens at a time, moves its gaps by {seen.median:.2g} at "
            f"the median, {seen.largest:.2g} at most ({seen.positions} places)"
        )


def tolerance_for(
    dtype: Dtype, dtype_from: str, spread: Spread | None = None
) -> Tolerance:
    """Give the tolerance of a number format."""
    return Tolerance(
        dtype=dtype, dtype_from=dtype_from, steps=STEPS[dtype], spread=spread
    )


def spread_of(differences: Sequence[float], width: int) -> Spread | None:
    """Sum up measured differences; None if there are none."""
    if not differences:
        return None
    ordered = sorted(differences)
    return Spread(
        positions=len(ordered),
        width=width,
        median=ordered[len(ordered) // 2],
        largest=ordered[-1],
    )


def step_of(dtype: Dtype, value: float) -> float:
    """Give the distance of neighbouring numbers of a format around a value."""
    exponent = math.floor(math.log2(max(abs(value), 1.0)))
    return math.ldexp(1.0, exponent - _BITS[dtype])
