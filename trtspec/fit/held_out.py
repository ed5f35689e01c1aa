"""How well a drafter would do on answers that it was not fitted on.

An estimate without an engine: drafts are made along the target's greedy answers, all
places at once, and decoding is then walked through place by place. It agrees with a
real run but for near ties of the number format.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.fit.batches import chains, collate, in_order
from trtspec.fit.objective import Objective
from trtspec.fit.precision import computing_in
from trtspec.fit.states import StateStore


@dataclass
class Walked:
    """Verification steps and accepted draft tokens of one source of prompts."""

    steps: int = 0
    accepted: int = 0

    @property
    def acceptance_length(self) -> float:
        """Tokens per verification step, bonus token included."""
        return 1 + self.accepted / max(self.steps, 1)


@dataclass
class HeldOutResult:
    """Acceptance by source."""

    sources: dict[str, Walked] = field(default_factory=lambda: defaultdict(Walked))

    @property
    def mean(self) -> float:
        """Acceptance length, averaged over the sources."""
        lengths = [walked.acceptance_length for walked in self.sources.values()]
        return sum(lengths) / max(len(lengths), 1)


def require_greedy(answers: Sequence[Answer]) -> None:
    """Refuse sampled and given answers: what is estimated is greedy acceptance.

    :raises UsageError: if there are any.
    """
    if others := [answer.id for answer in answers if answer.temperature != 0]:
        raise UsageError(
            f"{len(others)} of the held-out answers are not the target's greedy ones, "
            f"such as {others[0]}",
            where="--held-out",
            allowed="greedy answers: `fit_drafter.py answers --temperatures 0`",
        )


@torch.no_grad()
def measure(
    objective: Objective, answers: Sequence[Answer], store: StateStore, tokens: int
) -> HeldOutResult:
    """Estimate the acceptance length along all answers.

    :param tokens: most tokens of a batch.
    """
    require_greedy(answers)
    result = HeldOutResult()
    device = objective.target.device
    for indices in in_order([len(answer.tokens) for answer in answers], tokens):
        batch = collate(answers, store, indices)
        if batch is None:
            continue
        with computing_in(device):
            accepted = objective.run(batch.to(device)).accepted.tolist()
        for index in indices:
            own, accepted = _split(accepted, len(chains(answers[index])))
            walk(answers[index], own, result.sources[answers[index].source])
    return result


def walk(answer: Answer, accepted: Sequence[int], walked: Walked) -> None:
    """Go through an answer as decoding would.

    :param accepted: draft tokens that are accepted at each of the answer's chains.
    """
    at = {
        start: count for (start, _), count in zip(chains(answer), accepted, strict=True)
    }
    for begin, end in answer.spans:
        pending = begin
        while pending < end - 1:
            used = min(at.get(pending - 1, 0), end - 1 - pending)
            walked.steps += 1
            walked.accepted += used
            pending += used + 1


def _split(values: list[int], count: int) -> tuple[list[int], list[int]]:
    return values[:count], values[count:]
