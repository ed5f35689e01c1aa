"""Drafters that copy from texts by suffix automata."""

from __future__ import annotations

from torch import nn

from tests.reference.toy_heads.untrained import draft_target
from trtspec.methods import DraftTarget, Suffix
from trtspec.reference.drafters.suffix import LEAST_POOL, SuffixDrafter
from trtspec.reference.drafters.suffix_override import SuffixOverride


def suffix(
    target: nn.Module,
    slots: int,
    draft_length: int | dict[int, int] = 3,
    max_matching_ngram: int | None = None,
) -> tuple[SuffixDrafter, Suffix]:
    """Look in the request's own text."""
    method = Suffix(
        method="suffix",
        draft_length=draft_length,
        max_matching_ngram=max_matching_ngram,
    )
    return SuffixDrafter(method), method


def suffix_pool(
    target: nn.Module, slots: int, draft_length: int = 3
) -> tuple[SuffixDrafter, Suffix]:
    """Look in the texts of all requests."""
    method = Suffix(method="suffix", draft_length=draft_length, global_pool=True)
    return SuffixDrafter(method, max(LEAST_POOL, slots)), method


def suffix_over_draft_target(
    target: nn.Module, slots: int, draft_length: int = 3, threshold: int = 1
) -> tuple[SuffixOverride, DraftTarget]:
    """Let matches of ``threshold`` tokens overrule another toy model."""
    drafter, method = draft_target(target, slots, draft_length)
    return SuffixOverride(drafter, threshold), method
