"""One fitting run from answers to an exported drafter, and what is told on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trtspec.fit.answers import Answer, load_answers
from trtspec.fit.decoding import decode, evenly
from trtspec.fit.figures import write_figures
from trtspec.fit.held_out import HeldOutResult, measure, require_greedy
from trtspec.fit.interrupt import Interrupt, Interrupted
from trtspec.fit.listener import Listener, Shown
from trtspec.fit.objective import Objective
from trtspec.fit.plan import Plan
from trtspec.fit.precision import mixed_precision
from trtspec.fit.schedule import Schedule
from trtspec.fit.settings import Settings
from trtspec.fit.states import StateStore
from trtspec.fit.target import identify
from trtspec.fit.trainer import Trainer

Prepare = Callable[[Sequence[Answer]], None]


@dataclass(slots=True)
class _Data:
    answers: list[Answer]
    states: StateStore
    held_out: list[Answer]
    held_out_states: StateStore


@dataclass(slots=True)
class Session:
    """A run of one objective."""

    objective: Objective
    plan: Plan
    settings: Settings
    schedule: Schedule
    listener: Listener
    _shown: Shown = field(default_factory=Shown)

    def run(self) -> HeldOutResult:
        """Train to the last step, measuring and exporting as it goes.

        :raises KeyboardInterrupt: after the run was stored.
        :raises UsageError: if the answers are another target's.
        """
        with mixed_precision(enabled=self.plan.in_bfloat16), Interrupt() as interrupt:
            data = self._data()
            self._store(data.held_out_states, interrupt)(data.held_out)
            trainer = Trainer(
                self.objective,
                data.answers,
                data.states,
                self.settings,
                schedule=self.schedule,
                prepare=self._store(data.states, interrupt),
            )
            if trainer.resume(self.plan.work, **self._kind()):
                self._show(trainer)
                self.listener.resumed(self._shown)
            self._train(trainer, data, interrupt)
            result = self._measure(trainer, data)
            trainer.save(self.plan.work, **self._kind())
            interrupt.obey()
        self._decode(trainer, data, result)
        return result

    def _train(self, trainer: Trainer, data: _Data, interrupt: Interrupt) -> None:
        saved = time.monotonic()
        while not trainer.finished:
            started = time.perf_counter()
            try:
                outcome = trainer.step()
            except Interrupted:
                self._keep(trainer)
                raise
            trainer.position.seconds += time.perf_counter() - started
            self._show(trainer, float(outcome.loss), outcome.accepted.float().mean())
            self.listener.stepped(self._shown)
            if interrupt.asked or time.monotonic() - saved > self.plan.save_seconds:
                self._keep(trainer)
                saved = time.monotonic()
            interrupt.obey()
            step = trainer.position.step
            if step % self.plan.measure_every == 0 and not trainer.finished:
                self._measure(trainer, data)

    def _keep(self, trainer: Trainer) -> None:
        """Store the run, and what it has made so far."""
        trainer.save(self.plan.work, **self._kind())
        self.objective.export(self.plan.output, trainer.average.values)

    def _measure(self, trainer: Trainer, data: _Data) -> HeldOutResult:
        """Measure and export the averaged weights."""
        with trainer.averaged():
            result = measure(
                self.objective,
                data.held_out,
                data.held_out_states,
                self.settings.batch_tokens,
            )
        self.objective.export(self.plan.output, trainer.average.values)
        self._note(trainer, data, {"held_out_estimate": result})
        self.listener.measured(self._shown, result)
        return result

    def _decode(self, trainer: Trainer, data: _Data, estimate: HeldOutResult) -> None:
        """Let the reference engine have the last word."""
        if not self.plan.decode:
            return
        prompts = evenly(data.held_out, self.plan.decode)
        result = decode(
            self.objective.target,
            self.plan.output,
            self.objective.speculation(),
            prompts,
        )
        self.listener.decoded(len(prompts), result)
        measured = {"held_out_estimate": estimate, "held_out_decoded": result}
        self._note(trainer, data, measured)

    def _note(
        self, trainer: Trainer, data: _Data, measured: dict[str, HeldOutResult]
    ) -> None:
        write_figures(
            self.plan.work / "figures.json",
            identify(self.objective.target.directory),
            self._everything(),
            data.answers[: trainer.position.answers],
            trainer.position,
            loss=self._shown.loss,
            measured=measured,
        )

    def _everything(self) -> dict[str, Any]:
        return asdict(self.settings) | asdict(self.schedule) | self._kind()

    def _kind(self) -> dict[str, Any]:
        """What else must be the same when a run goes on."""
        return self.objective.kind() | {"in_bfloat16": self.plan.in_bfloat16}

    def _show(self, trainer: Trainer, loss: float = 0.0, accepted: Any = 0.0) -> None:
        place, shown = trainer.position, self._shown
        shown.smooth(loss, 1 + float(accepted))
        shown.step, shown.steps = place.step, self.schedule.steps
        shown.epoch, shown.tokens = place.epoch + 1, place.tokens
        shown.rate = self.schedule.rate(place.step)

    def _data(self) -> _Data:
        parts: list[Any] = []
        for path, name in (
            (self.plan.answers, "states"),
            (self.plan.held_out, "held-out-states"),
        ):
            target = self.objective.target
            parts.append(load_answers(path, target))
            parts.append(
                StateStore(
                    self.plan.states / name,
                    identify(target.directory),
                    self.objective.layers,
                    target.hidden_size,
                )
            )
        require_greedy(parts[2])
        return _Data(*parts)

    def _store(self, store: StateStore, interrupt: Interrupt) -> Prepare:
        """Give what stores the target's states of answers, and tells of it."""

        def prepare(answers: Sequence[Answer]) -> None:
            total = sum(len(answer.tokens) for answer in answers)

            def added(_: int) -> None:
                self.listener.storing(store.tokens, total)
                interrupt.obey()

            store.extend(self.objective.target, answers, added)

        return prepare
