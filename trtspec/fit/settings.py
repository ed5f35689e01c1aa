"""What decides the weights of a training run, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_ANSWERS = 64


def answers_of(epoch: int, total: int, stored: int = 0) -> int:
    """How many answers an epoch goes over: each twice as many as the one before.

    So training begins before the target's states of all answers are there.

    :param epoch: counted from 0.
    :param stored: answers whose states are there already.
    """
    return min(total, max(_FIRST_ANSWERS << min(epoch, 32), stored))


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the weights that come out, besides the data.

    :param batch_tokens: most tokens that go through the drafter at once.
    :param accumulate: batches of one step.
    :param clip: largest norm of a step's gradient.
    :param average: weight of the past in what is exported.
    """

    seed: int = 0
    batch_tokens: int = 2048
    accumulate: int = 1
    weight_decay: float = 0.0
    clip: float = 1.0
    average: float = 0.995


@dataclass(slots=True)
class Position:
    """How far a run is.

    :param answers: how many answers, from the first on, this epoch goes over.
    :param batch: batches of this epoch that were used; ``turn``: of all epochs.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    turn: int = 0
    answers: int = 0
    tokens: int = 0
    seconds: float = 0.0
