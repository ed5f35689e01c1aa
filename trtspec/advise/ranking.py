"""Which method to try first, and why; nothing about speed is known before bench."""

from __future__ import annotations

from trtspec.advise.drafters import Drafter
from trtspec.advise.target import Target
from trtspec.advise.workload import REPEATS, WorkloadFacts

TENTH = 10
"""A draft model is to be at most a tenth of its target: every draft token is a forward
of it."""

_ORDER = (
    "mtp", "eagle3", "dflash", "eagle", "medusa", "redrafter", "pard", "draft_target",
    "ngram", "suffix", "lookahead",
)  # fmt: skip
_COPYING = ("ngram", "suffix")
_REPEATED = _ORDER.index("pard") - 0.5
_STEP = 0.1
"""Between two methods that share a place of the order."""

_WHY = {
    "mtp": "heads that were trained with the target; no second checkpoint",
    "eagle3": "one layer, trained on three of this target's hidden states",
    "dflash": "drafts a block in one forward, from this target's hidden states",
    "eagle": "a small head, trained on this target's hidden states; drafts a tree",
    "medusa": "heads on this target's last hidden state; draft a tree",
    "redrafter": "a recurrent head, trained on this target",
    "pard": "a small model that drafts all its tokens in one forward",
    "draft_target": "a small model with the target's token ids",
    "ngram": "needs nothing; every backend and release has it",
    "suffix": "needs nothing; looks up the longest match instead of n tokens",
    "lookahead": "needs nothing; spends computation that large batches do not have",
}


def rank(
    method: str,
    drafter: Drafter | None,
    target: Target,
    workload: WorkloadFacts | None,
) -> float:
    """Give the place of a method; smaller is to be tried first.

    A drafter that the user has goes before those that only documents name, but not
    before heads that were trained with the target.
    """
    if method in _COPYING and workload is not None and workload.repeats:
        return _REPEATED + _COPYING.index(method) * _STEP
    if _too_large(drafter, target):
        return len(_ORDER)
    place = _ORDER.index(method)
    given = drafter is not None and drafter.origin == "given" and drafter.is_here
    return place / len(_ORDER) if given else place


def why(
    method: str,
    drafter: Drafter | None,
    target: Target,
    workload: WorkloadFacts | None,
) -> tuple[str, ...]:
    """Say what speaks for a method, or against it, before it is tried."""
    told = [_WHY[method]]
    if (size := _share_of_target(drafter, target)) is not None:
        told.append(f"it has {size:.0%} of the target's parameters")
    if _too_large(drafter, target):
        told.append(f"that is more than 1/{TENTH}: drafting may cost what it saves")
    if method == "ngram":
        told.append(repetition_told(workload))
    return tuple(told)


def repetition_told(workload: WorkloadFacts | None) -> str:
    """Say how far a workload's outputs repeat what stands before them."""
    if workload is None or workload.copied is None:
        lacking = "no workload" if workload is None else "too little text"
        return (
            f"pays where outputs repeat their inputs; {lacking} to estimate that from"
        )
    share = f"{workload.copied:.0%}"
    if not workload.answers:
        return (
            f"the workload has no answers to compare; {share} of the prompts' own "
            "words repeat earlier ones, which says little about outputs"
        )
    verdict = "outputs repeat inputs" if workload.repeats else "expect little"
    return (
        f"{share} of the answers' words could be copied from prompt or answer so far: "
        f"{verdict} (from {REPEATS:.0%} on it comes first of what is not trained)"
    )


def _share_of_target(drafter: Drafter | None, target: Target) -> float | None:
    info = drafter.info if drafter else None
    if info is None or target.info is None or not target.info.parameters:
        return None
    return info.parameters / target.info.parameters


def _too_large(drafter: Drafter | None, target: Target) -> bool:
    share = _share_of_target(drafter, target)
    return share is not None and share > 1 / TENTH
