"""Which compute capability is meant, of the GPUs that a recipe is to run on."""

from __future__ import annotations

from trtspec.check.subject import Subject


def capability_of(subject: Subject) -> int | None:
    """Give it as 90 for 9.0; None if no GPU is named and none is known here.

    Of several GPUs the oldest counts: what it lacks, all of them do without.
    """
    named = [gpu.capability for gpu in subject.gpus if gpu.capability is not None]
    return min(named, default=None)


def shown(capability: int) -> str:
    """Write it as NVIDIA does: 12.0."""
    return f"{capability // 10}.{capability % 10}"
