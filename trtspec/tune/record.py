"""From an engine's trace to the records that are kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trtspec.tune.trace import PromptTrace

if TYPE_CHECKING:
    from trtspec.reference.tracing import Place
    from trtspec.run import Completion


def prompt_trace(
    completion: Completion,
    places: Sequence[Place],
    *,
    limit: int,
    category: str = "",
    ranked: bool = False,
) -> PromptTrace:
    """Keep what a drafter would have brought along one answer.

    :param limit: most tokens that were to be emitted.
    :param ranked: keep the ranks of the answer's tokens, too.
    """
    sampled = any(p.chances for p in places)
    chain = all(p.depth == p.drafted == p.verified for p in places)
    return PromptTrace(
        prompt_id=completion.request_id,
        category=category,
        prompt_tokens=completion.prompt_tokens,
        limit=limit,
        emitted=len(completion.tokens),
        offered=tuple(p.depth for p in places),
        # what was accepted of a sampled draft is drawn later, by its chances
        accepted=tuple(0 if sampled else p.accepted for p in places),
        drafted=None if chain else tuple(p.drafted for p in places),
        verified=None if chain else tuple(p.verified for p in places),
        ranks=tuple(p.ranks for p in places) if ranked else None,
        chances=tuple(p.chances for p in places) if sampled else None,
    )
