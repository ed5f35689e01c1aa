"""What every kind of drafter is fitted for: its draft steps against the target's own.

The loss of a step is the cross entropy to the target's distribution over the tokens
that the drafter knows, of the token that the step proposes (arXiv 2503.01840 and
SafeAILab/EAGLE eagle/traineagle3: soft targets, later steps count less).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from trtspec.fit.batches import Batch
from trtspec.fit.soft_targets import soft_cross_entropy
from trtspec.fit.target import Target
from trtspec.reference.heads.stored import fill

STEP_WEIGHT = 0.8
"""How much less each further draft step counts."""


class Outcome(NamedTuple):
    """What one batch gave.

    :param loss: mean over draft steps, weighted.
    :param accepted: draft tokens of each chain that greedy acceptance keeps, [K].
    """

    loss: Tensor
    accepted: Tensor


class Compared(NamedTuple):
    """The tokens over which drafter and target are compared.

    :param ids: the target's ids of them, int64 [v]; None for all.
    :param rows: the target's output weight for them, [v, hidden size].
    :param known: which of the target's tokens are among them, bool [vocabulary].
    """

    ids: Tensor | None
    rows: Tensor
    known: Tensor

    @classmethod
    def among(cls, target: Target, ids: Tensor | None) -> Compared:
        """Take some of the target's tokens, or all."""
        rows, known = target.output_weight, torch.ones(target.vocabulary).bool()
        if ids is not None:
            rows = rows[ids.to(rows.device)]
            known = torch.zeros_like(known).index_fill(0, ids, value=True)
        return cls(ids, rows, known)

    def likeliest(self, logits: Tensor) -> Tensor:
        """Give the target's id of the likeliest token of each row of [k, v]."""
        # faster than argmax, same tie-breaking
        likeliest = logits.detach().max(-1).indices.cpu()
        return likeliest if self.ids is None else self.ids[likeliest]


class Objective(ABC):
    """A drafter to be fitted, and how it drafts along the target's answers.

    :param module: what is trained.
    :param steps: draft length that it is fitted for.
    :param own: the tokens that it can propose.
    :param often: the tokens that training compares; all of ``own`` if they are few.
    """

    layers: tuple[int, ...] = ()
    """The target's layers whose states it reads, besides the final one."""

    places: int | None = None
    """Chains of a batch that a training step looks at; None for all.

    Logits over a whole vocabulary cost more than the drafter itself."""

    def __init__(
        self,
        target: Target,
        module: nn.Module,
        steps: int,
        *,
        ids: Tensor | None = None,
        often: Tensor | None = None,
    ) -> None:
        """Keep the target's part of the work.

        :param ids: the target's ids of the drafter's own vocabulary; None for all.
        :param often: ids of the tokens that training compares; None for ``ids``.
        """
        self.target, self.module, self.steps = target, module, steps
        self.own = Compared.among(target, ids)
        self.often = self.own if often is None else Compared.among(target, often)

    @abstractmethod
    def guesses(self, batch: Batch, compared: Compared) -> Iterator[Tensor]:
        """Give each draft step's logits [chains that reach it, compared tokens]."""

    @abstractmethod
    def export(self, directory: Path, weights: dict[str, Tensor]) -> None:
        """Write the drafter in its public layout.

        :param weights: a state dict of ``module``.
        """

    @abstractmethod
    def speculation(self) -> dict[str, Any]:
        """Give a recipe's section for chains of the drafter, without its model."""

    @abstractmethod
    def stored(self, directory: Path) -> dict[str, Tensor]:
        """Read an exported drafter's tensors, by the names of ``module``."""

    def begin_from(self, directory: Path) -> None:
        """Begin with the weights of a drafter of the same kind and size.

        :raises RunError: if a tensor is missing, left over, or of another shape.
        """
        fill(self.module, self.stored(directory), directory)

    def kind(self) -> dict[str, Any]:
        """What must be the same when a run goes on; see ``Session``."""
        return {
            "kind": type(self).__name__,
            "steps_ahead": self.steps,
            "layers": list(self.layers),
            "vocabulary": len(self.own.rows),
            "compared": len(self.often.rows),
        }

    def run(self, batch: Batch, turn: int | None = None) -> Outcome:
        """Draft from the chains of a batch; compare with the target.

        :param turn: number of the batch in training, for drafters that look at some of
            the chains only; None for all chains.
        """
        compared = self.own if turn is None else self.often
        if turn is not None and self.places is not None:
            batch = batch.some(self.places, turn)
        steps = range(self.steps)
        seen = torch.unique(torch.cat([batch.places(step) for step in steps]))
        wanted = self._target_logits(batch, seen, compared).softmax(-1)
        right = torch.zeros(len(batch.row), self.steps, dtype=torch.bool)
        losses, weights = [], []
        for step, logits in enumerate(self.guesses(batch, compared)):
            places = batch.places(step)
            token = batch.tokens.flatten()[places + 1].cpu()
            right[batch.reaching(step).cpu(), step] = (
                compared.likeliest(logits) == token
            )
            known = compared.known[token].to(logits.device)
            loss = soft_cross_entropy(logits, wanted, torch.searchsorted(seen, places))
            losses.append((loss * known).sum() / known.sum().clamp(min=1))
            weights.append(STEP_WEIGHT**step)
        total = sum(w * loss for w, loss in zip(weights, losses, strict=True))
        loss = torch.as_tensor(total / sum(weights))
        return Outcome(loss, accepted_lengths(self.all_right(right, batch)))

    def all_right(self, right: Tensor, batch: Batch) -> Tensor:
        """Say which steps of each chain propose the right token, bool [K, steps].

        :param right: as ``guesses`` has shown.
        """
        return right

    @torch.no_grad()
    def _target_logits(
        self, batch: Batch, places: Tensor, compared: Compared
    ) -> Tensor:
        """Give the target's logits of compared tokens, float32 [k, v].

        :param places: index into [rows * n].
        """
        width = self.target.hidden_size
        final = batch.states.flatten(0, 1)[places, -width:].to(compared.rows.dtype)
        return nn.functional.linear(final, compared.rows).float()


def accepted_lengths(right: Tensor) -> Tensor:
    """Count the leading True of each row of bool [K, steps]."""
    return right.long().cumprod(-1).sum(-1)
