"""What is left beside a run for the drafter's card: data, settings, acceptance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trtspec.files import write_atomic
from trtspec.fit.answers import Answer
from trtspec.fit.held_out import HeldOutResult
from trtspec.fit.settings import Position
from trtspec.fit.target import Identity


def write_figures(
    path: Path,
    target: Identity,
    settings: dict[str, Any],
    answers: Sequence[Answer],
    position: Position,
    *,
    loss: float,
    measured: dict[str, HeldOutResult],
) -> None:
    """Write the figures of a measurement as JSON.

    :param answers: those that the running epoch goes over.
    :param loss: smoothed training loss.
    :param measured: acceptance lengths, by the way they were found.
    """
    figures = {
        "target": target,
        "settings": settings,
        "steps": position.step,
        "epochs": position.epoch + 1,
        "answers": len(answers),
        "answer_tokens": sum(answer.answered for answer in answers),
        "tokens_through_the_drafter": position.tokens,
        "training_seconds": round(position.seconds),
        "loss": round(loss, 4),
        **{name: _lengths(result) for name, result in measured.items()},
    }
    write_atomic(path, json.dumps(figures, indent=1) + "\n")


def _lengths(result: HeldOutResult) -> dict[str, Any]:
    """Acceptance length of each source, and their mean."""
    sources = {
        source: round(walked.acceptance_length, 4)
        for source, walked in sorted(result.sources.items())
    }
    return {"mean": round(result.mean, 4), "sources": sources}
