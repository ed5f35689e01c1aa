"""What has to be said of a tuning on another backend than that of the traces."""

from __future__ import annotations

from trtspec.tune.candidate import Candidate
from trtspec.tune.confirm_run import Confirmed

HOW_TIMED = (
    "what is accepted was traced on backend reference; steps were timed on the "
    "recipe's own backend, whole, with requests that run together"
)
APART = 0.05
"""Relative difference of acceptance lengths that is named."""


def untraced_note(candidate: Candidate) -> str:
    """Say of a candidate without a trace where its acceptance comes from."""
    return (
        f"{candidate.name}: not traced on backend reference ({candidate.no_twin}); "
        f"what is accepted was measured with {candidate.lengths[-1]} draft tokens, and "
        "of shorter drafts taken from that, all places of an answer alike; steps were "
        "timed whole, with requests that run together"
    )


def acceptance_notes(confirmed: Confirmed | None) -> list[str]:
    """Name loads where the bench accepted more or less than the traces say.

    They differ where the engine's numbers, its prompts or its rule of acceptance are
    not those of the traces.
    """
    if confirmed is None:
        return []
    notes = []
    for load in confirmed.candidate.loads:
        said = load.measured.acceptance_length if load.measured else None
        told = load.acceptance_length
        if said and told and abs(said / told - 1) > APART:
            notes.append(
                f"acceptance length at concurrency {load.concurrency}: {told:.2f} by "
                f"the traces, {said:.2f} in the bench"
            )
    return notes
