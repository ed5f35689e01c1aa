"""What ``trtspec init --json`` prints: every way with its verdict, and the recipe."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtspec import __version__

if TYPE_CHECKING:
    from trtspec.advise import Advice, Candidate


def advice_document(advice: Advice, text: str) -> dict[str, Any]:
    """Describe an answer as JSON values.

    :param text: the recipe; empty if there is none.
    """
    chosen = advice.chosen
    return {
        "trtspec": __version__,
        "target": advice.target.text,
        "family": advice.target.family,
        "version": str(advice.version) if advice.version else None,
        "workload": _workload(advice),
        "candidates": [_candidate(c, chosen) for c in advice.candidates],
        "recipe": text or None,
    }


def _workload(advice: Advice) -> dict[str, Any] | None:
    if advice.workload is None:
        return None
    return asdict(advice.workload) | {"path": str(advice.workload.path)}


def _candidate(candidate: Candidate, chosen: Candidate | None) -> dict[str, Any]:
    drafter = candidate.drafter
    return {
        "method": candidate.method,
        "backend": candidate.backend,
        "state": candidate.state,
        "chosen": candidate is chosen,
        "needs": list(candidate.needs),
        "why": list(candidate.why),
        "drafter": drafter.model if drafter else None,
        "origin": drafter.origin if drafter else None,
        "told_by": drafter.told_by if drafter else None,
        "sampled": {"exact": not candidate.sampled, "why": candidate.sampled}
        if candidate.draft
        else None,
        "speculation": dict(candidate.draft.content["speculation"])
        if candidate.draft
        else None,
    }
