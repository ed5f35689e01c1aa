"""How a drafter is trained: steps over shuffled answers, stored and resumed exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from trtspec.fit import checkpoint
from trtspec.fit.answers import Answer
from trtspec.fit.average import Average
from trtspec.fit.batches import collate, plan_epoch
from trtspec.fit.interrupt import Interrupted
from trtspec.fit.objective import Objective, Outcome
from trtspec.fit.precision import computing_in
from trtspec.fit.schedule import Schedule
from trtspec.fit.settings import Position, Settings, answers_of
from trtspec.fit.states import StateStore

_MOMENTS = (0.9, 0.95)


class Trainer:
    """One training run."""

    def __init__(
        self,
        objective: Objective,
        answers: Sequence[Answer],
        store: StateStore,
        settings: Settings,
        *,
        schedule: Schedule,
        prepare: Callable[[Sequence[Answer]], None],
    ) -> None:
        """Begin a run.

        :param prepare: makes sure that the target's states of these answers are stored.
        """
        self.objective, self.settings, self.schedule = objective, settings, schedule
        self.position = Position()
        self.average = Average(objective.module, settings.average)
        self._answers, self._store, self._prepare = answers, store, prepare
        self._parameters = [p for p in objective.module.parameters() if p.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._parameters,
            betas=_MOMENTS,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self._plan: list[list[int]] = []

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.position.step >= self.schedule.steps

    def step(self) -> Outcome:
        """Do one step; gives the mean loss, and what its chains would accept.

        :raises Interrupted: from ``prepare``; the run is then as before the step.
        """
        begun = replace(self.position)
        try:
            outcome = self._gradient()
        except Interrupted:
            self.position = begun
            raise
        self._update()
        return outcome

    def _gradient(self) -> Outcome:
        parts: list[Outcome] = []
        while len(parts) < self.settings.accumulate:
            batch = collate(self._answers, self._store, self._next())
            if batch is None:
                continue
            self.position.tokens += int(batch.tokens.numel())
            self.position.turn += 1
            device = self.objective.target.device
            with computing_in(device):
                outcome = self.objective.run(batch.to(device), self.position.turn)
            torch.autograd.backward(outcome.loss / self.settings.accumulate)
            parts.append(Outcome(outcome.loss.detach(), outcome.accepted))
        loss = torch.stack([part.loss for part in parts]).mean()
        return Outcome(loss, torch.cat([part.accepted for part in parts]))

    def _update(self) -> None:
        nn.utils.clip_grad_norm_(self._parameters, self.settings.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = self.schedule.rate(self.position.step)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.position.step += 1
        self.average.update(self.objective.module, self.position.step)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Put the averaged weights into the module for this block."""
        module = self.objective.module
        trained = {name: t.detach().clone() for name, t in module.state_dict().items()}
        module.load_state_dict(self.average.values)
        try:
            yield
        finally:
            module.load_state_dict(trained)

    def save(self, directory: Path, **extra: Any) -> None:
        """Store all that is needed to go on."""
        content = {
            "settings": asdict(self.settings) | extra,
            "position": asdict(self.position),
            "module": self.objective.module.state_dict(),
            "average": self.average.values,
            "optimizer": self._optimizer.state_dict(),
        }
        checkpoint.save(directory, content)

    def resume(self, directory: Path, **extra: Any) -> bool:
        """Go on from a stored run, if there is one.

        :raises UsageError: if it was made with other settings.
        """
        content = checkpoint.load(directory, asdict(self.settings) | extra)
        if content is None:
            return False
        self.objective.module.load_state_dict(content["module"])
        self.average.load(content["average"])
        self._optimizer.load_state_dict(content["optimizer"])
        self.position = Position(**content["position"])
        if self.position.answers:
            self._plan = self._planned()
        return True

    def _next(self) -> list[int]:
        """Give the next batch's answers."""
        if self.position.batch >= len(self._plan):
            if self._plan:
                self.position.epoch += 1
            self.position.batch = 0
            self.position.answers = answers_of(
                self.position.epoch, len(self._answers), self._store.count
            )
            self._prepare(self._answers[: self.position.answers])
            self._plan = self._planned()
        self.position.batch += 1
        return self._plan[self.position.batch - 1]

    def _planned(self) -> list[list[int]]:
        used = self._answers[: self.position.answers]
        return plan_epoch(
            [len(answer.tokens) for answer in used],
            self.settings.batch_tokens,
            self.settings.seed,
            self.position.epoch,
        )
