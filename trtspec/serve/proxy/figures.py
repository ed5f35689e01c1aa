"""What speculation did for one answer of ``trtllm-serve``, as far as it tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trtspec.errors import RunError
from trtspec.serve.openai.answers import SpeculationFigures
from trtspec.trtllm.pytorch.metrics import from_response

AVERAGE = "avg_decoded_tokens_per_iter"


def figures(
    method: str, lossy: str, choice: Mapping[str, Any], tokens: int | None
) -> SpeculationFigures:
    """Read a choice that has ended.

    :param method: of the pool's recipe.
    :param lossy: why the output need not be the target model's own.
    :param tokens: of this choice alone; None if not known.
    """
    steps, accepted = _counts(choice.get(AVERAGE), tokens)
    drafts = method != "none"
    drafted = None if drafts else 0
    length = None if not steps or accepted is None else 1 + accepted / steps
    return SpeculationFigures(
        method=method,
        enabled=drafts,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        acceptance_rate=None,  # it tells nobody how much was drafted for a request
        acceptance_length=length,
        lossy=lossy,
    )


def _counts(average: object, tokens: int | None) -> tuple[int | None, int | None]:
    """Give verification steps and accepted draft tokens."""
    if isinstance(average, bool) or not isinstance(average, int | float):
        return None, None
    try:
        found = from_response(average, tokens)
    except RunError:
        return None, None  # it makes no sense; the text does all the same
    if found.unavailable and tokens == 1:
        return 0, 0
    return found.steps, found.accepted
