"""What shorter drafts would have had accepted, from answers with the longest ones.

For where the target cannot be loaded on backend reference, so that there is no trace.
An engine tells of the steps it took, not of every place; so all places of an answer are
taken to be alike: a draft of K tokens is accepted to depth d as often as the longest
one was. Where only sums are told, one chance per token is taken for all depths: with it
the longest draft has as much accepted as was seen (arXiv 2211.17192, equation 1).
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.optimize import brentq

from trtspec.bench.outcome import Outcome
from trtspec.run import DraftStep
from trtspec.tune.trace import PromptTrace


def trace_of(outcome: Outcome, longest: int, limit: int, category: str) -> PromptTrace:
    """Make a trace of an answer that was decoded with the longest draft.

    :param longest: its draft length.
    :param limit: most tokens that were to be emitted.
    """
    places = outcome.output_tokens - 1
    chances = chances_of(outcome, longest)
    return PromptTrace(
        prompt_id=outcome.request_id,
        category=category,
        prompt_tokens=outcome.prompt_tokens or 1,
        limit=limit,
        emitted=outcome.output_tokens,
        offered=(longest,) * places,
        accepted=(0,) * places,
        chances=(chances,) * places,
    )


def chances_of(outcome: Outcome, longest: int) -> tuple[float, ...]:
    """Give the chance that a draft is accepted to each depth."""
    if outcome.draft_steps:
        return _by_step(outcome.draft_steps, longest)
    if not outcome.steps:
        return (0.0,) * longest
    return _by_sums((outcome.accepted or 0) / outcome.steps, longest)


def _by_step(steps: Sequence[DraftStep], longest: int) -> tuple[float, ...]:
    """Count how often each depth was reached, the cut last step left out."""
    whole = steps[:-1] or steps
    return tuple(
        sum(step.accepted >= depth for step in whole) / len(whole)
        for depth in range(1, longest + 1)
    )


def _by_sums(accepted: float, longest: int) -> tuple[float, ...]:
    """Give powers of the chance with which so many tokens of a step are accepted."""
    if accepted <= 0:
        return (0.0,) * longest

    def missing(chance: float) -> float:
        return sum(chance**d for d in range(1, longest + 1)) - accepted

    chance = 1.0 if accepted >= longest else float(brentq(missing, 0.0, 1.0))
    return tuple(chance**d for d in range(1, longest + 1))
