"""Whether a head turns its positions as its target does."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelShape
from trtspec.models.inspection_verdict import Fit
from trtspec.models.rope import number_text

ROTARY_HEADS: tuple[DrafterKind, ...] = ("eagle", "eagle3", "dflash")
"""Kinds whose layers encode positions by the head's own config.json.

Medusa and ReDrafter heads know no positions; next-token heads turn theirs as the
target does.
"""

USUAL_BASE = 10000.0
"""What transformers takes for Llama's and Qwen3's layers where no base is named."""


def rotary_fit(info: DrafterInfo, target: ModelShape) -> Iterator[Fit]:
    """Compare base and scaling; a target that names no base is not compared with.

    Another encoding is no fault by itself: some published heads were trained with one.
    """
    if info.kind not in ROTARY_HEADS or target.rope_theta is None:
        return
    ours = target.rope_theta, target.rope_scaling, target.rope_factor
    base = USUAL_BASE if info.rope_theta is None else info.rope_theta
    theirs = base, info.rope_scaling, info.rope_factor
    named = "" if info.rope_theta is not None else " (the default: it names none)"
    text = f"{_words(theirs)}{named}, the target has {_words(ours)}"
    unknown = None in (ours[2], theirs[2])  # a GGUF names no factor of llama3's
    same = ours[:2] == theirs[:2] and (unknown or ours[2] == theirs[2])
    if not same:
        text += (
            ": good if the head was trained so; if its config.json was written or "
            "completed later, drafts get worse the further on they stand"
        )
    values = [
        dict(zip(("rope_theta", "rope_scaling", "factor"), side, strict=True))
        for side in ((info.rope_theta, *theirs[1:]), ours)
    ]
    yield Fit("rotary", "fits" if same else "note", text, *values)


def _words(encoding: tuple[float, str | None, float | None]) -> str:
    base, scaling, factor = encoding
    times = "" if factor is None else f" x {number_text(factor)}"
    scaled = f"scaled: {scaling}{times}" if scaling else "unscaled"
    return f"base {number_text(base)}, {scaled}"
