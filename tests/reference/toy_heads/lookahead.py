"""Lookahead decoding, which drafts with the target itself."""

from __future__ import annotations

from torch import nn

from trtspec.methods import Lookahead
from trtspec.reference.drafters.lookahead import LookaheadDrafter


def lookahead(
    target: nn.Module,
    slots: int,
    window_size: int = 3,
    ngram_size: int = 3,
    verification_set_size: int = 3,
) -> tuple[LookaheadDrafter, Lookahead]:
    """A window of W columns, n-grams of N tokens, up to G of them verified."""
    method = Lookahead(
        method="lookahead",
        window_size=window_size,
        ngram_size=ngram_size,
        verification_set_size=verification_set_size,
    )
    return LookaheadDrafter(method, max_tokens=96), method
