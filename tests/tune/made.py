"""Traces, costs and candidates made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

from trtspec.methods import NGram
from trtspec.tune.candidate import Candidate
from trtspec.tune.costs import Cost, CostTable, StepCosts
from trtspec.tune.trace import PromptTrace


def trace(
    accepted: Sequence[int],
    *,
    offered: Sequence[int] | int = 8,
    limit: int | None = None,
    prompt_id: str = "p",
    category: str = "",
) -> PromptTrace:
    """An answer with a place behind each of its tokens but the last."""
    places = len(accepted)
    drafts = [offered] * places if isinstance(offered, int) else offered
    return PromptTrace(
        prompt_id=prompt_id,
        category=category,
        prompt_tokens=3,
        limit=limit or places + 1,
        emitted=places + 1,
        offered=tuple(drafts),
        accepted=tuple(accepted),
    )


def table(cells: Mapping[tuple[int, int], float], *, error: float = 0.0) -> CostTable:
    return CostTable(
        source="measured",
        cells=tuple(
            Cost(batch=b, tokens=t, seconds=s, error=error)
            for (b, t), s in cells.items()
        ),
    )


def costs(
    verify: Mapping[int, Sequence[float]],
    draft: float = 0.0,
    *,
    error: float = 0.0,
) -> StepCosts:
    """By batch size the seconds of verifying 1, 2, ... tokens; drafting is linear."""
    lengths = len(next(iter(verify.values())))
    return StepCosts(
        verify=table(
            {(b, t): s for b, row in verify.items() for t, s in enumerate(row, 1)},
            error=error,
        ),
        draft=table(
            {(b, k): k * draft for b in verify for k in range(1, lengths)},
        ),
    )


def candidate(lengths: int = 4, name: str = "ngram") -> Candidate:
    artifact = SimpleNamespace(
        name="toy-ngram", fingerprint="f" * 64, recipe=None, path=None
    )
    method = NGram(method="ngram", draft_length=lengths)
    return Candidate(name, artifact, method, tuple(range(1, lengths + 1)))
