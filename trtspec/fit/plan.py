"""Where a fitting run reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a run reads and writes, and how often it is looked at.

    :param work: folder of the stored run.
    :param output: folder of the exported drafter.
    :param states: folder of the target's states, which runs may share.
    :param measure_every: steps between measurements on held-out answers.
    :param decode: held-out prompts that the engine decodes at the end.
    :param save_seconds: most seconds between two stored runs.
    """

    work: Path
    output: Path
    states: Path
    answers: Path
    held_out: Path
    measure_every: int = 200
    decode: int = 0
    save_seconds: float = 300.0
    in_bfloat16: bool = True
