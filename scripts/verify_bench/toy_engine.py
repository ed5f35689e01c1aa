"""The embedded engine on a toy model, exact and with faults planted into its rule."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from tests.reference.engines import TOKENIZER
from tests.reference.toys import toy_model
from trtspec.methods import DraftTarget, NoSpeculation
from trtspec.reference.acceptance import Rule
from trtspec.reference.acceptance.planted import CONTROL, PLANTED, Penalised
from trtspec.reference.drafters import DraftContext
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.engine import Engine
from trtspec.reference.running import Running
from trtspec.reference.slots import SlotModel
from trtspec.reference.tree import DraftTree
from trtspec.run import Request, SamplingParams
from trtspec.run.text import TextStream
from trtspec.verify.arm import Answer, Question
from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.collect import Collected, Prompts, ask
from verify_bench.arms import answer_of
from verify_bench.rates import NO_FAULT, Planted

METHODS = ("argmax drafts", "drawn drafts")
"""What a draft model that is the target with some noise offers."""
VOCABULARY = 12
SLOTS = 128
MAX_TOKENS = 32
DRAFT_LENGTH = 3
PRESENCE = 1.5
PROMPTS: Prompts = {
    "a": (3, 9, 4, 7, 3, 9, 4, 7, 3),
    "b": (5, 6, 7, 8, 5, 6, 2, 8, 5, 6),
    "c": (6, 2, 10, 9, 6, 2, 4, 10, 9),
    "d": (0, 4, 11, 3, 0, 8, 11, 3),
    "e": (1, 7, 5, 1, 7, 2, 6, 1),
    "f": (2, 11, 4, 2, 10, 4, 8, 2),
}
"""Short, and unlike one another."""


class ToyArm:
    """An engine that answers; see ``trtspec.verify.arm.Arm``."""

    def __init__(self, name: str, engine: Engine, rule: Rule | None = None) -> None:
        self.name = name
        self._engine = engine
        self._rule = rule

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all at once: the engine's slots are the limit."""
        found: dict[str, Answer] = {}
        for one in questions:
            asked = Request(
                one.id,
                tuple(map(int, one.prompt)),
                one.max_tokens,
                one.sampling,
                ignore_eos=True,
            )
            stream = TextStream(TOKENIZER, ())
            self._engine.queue.submit(Running(asked, stream, frozenset(), 0.0))
        with torch.inference_mode(), self._engine.instead(rule=self._rule):
            while self._engine.queue:
                for chunk in self._engine.advance().chunks:
                    if done := chunk.completion:
                        found[chunk.request_id] = answer_of(done)
        return found


class _Argmax(DraftModelDrafter):
    """Offers the draft model's likeliest token, chosen without chance."""

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain of point masses per context."""
        greedy = SamplingParams()
        return super().propose([replace(one, sampling=greedy) for one in contexts])


def toy(drafts: str | None) -> Engine:
    """Make an engine that drafts in one of ``METHODS``, or not at all."""
    model = toy_model(vocabulary=VOCABULARY)
    target = SlotModel(model, SLOTS, MAX_TOKENS, DRAFT_LENGTH + 1)
    if drafts is None:
        return Engine(target, None, NoSpeculation(method="none"))
    method = DraftTarget(
        method="draft_target", model="./draft", draft_length=DRAFT_LENGTH
    )
    slots = SlotModel(_noisy(model), SLOTS, MAX_TOKENS, DRAFT_LENGTH + 1)
    kind = _Argmax if drafts == METHODS[0] else DraftModelDrafter
    return Engine(target, kind(slots, VOCABULARY), method)


@torch.no_grad()
def _noisy(model: Any) -> Any:
    noisy = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(1)
    for parameter in noisy.parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() > 1:  # norms stay as they are
            parameter.add_(0.05 * parameter.std() * noise)
    return noisy


class Pools:
    """Answers of one method's arms, no two with the same seed.

    :param exact: times what a run needs, for arms without a fault.
    :param faulty: the same for those with one.
    """

    def __init__(self, drafts: str, plan: Plan, exact: float, faulty: float) -> None:
        self._plan = plan
        self._exact, self._faulty = exact, faulty
        self._next = 0
        self._on, self._off = toy(drafts), toy(None)

    def planted(self) -> dict[str, Planted]:
        """Let every arm answer."""
        plan = self._plan
        off = self._ask("off", self._off, None, plan.off_seeds, self._exact)
        on = self._ask("on", self._on, None, plan.seeds, self._exact)
        wrong = {
            name: self._ask(name, self._on, rule, plan.seeds, self._faulty)
            for name, rule in PLANTED.items()
        }
        penalised = Penalised(PRESENCE)
        with_penalty = self._ask(
            "off, penalised", self._off, penalised, plan.off_seeds, self._faulty
        )
        found = {NO_FAULT: Planted(on, off, wrong[CONTROL])}
        found |= {k: Planted(v, off, wrong[CONTROL]) for k, v in wrong.items()}
        # an on arm that drops the penalty is the exact one
        found["dropped penalty"] = Planted(on, with_penalty, wrong[CONTROL])
        return found

    def _ask(
        self, name: str, engine: Engine, rule: Rule | None, seeds: int, times: float
    ) -> Collected:
        started = time.perf_counter()
        count = round(seeds * times)
        arm = ToyArm(name, engine, rule)
        found = ask(arm, PROMPTS, self._plan, self._next, count)
        self._next += count
        drafts = found.drafts()
        print(
            f"{name}: {len(found.answers)} answers, {drafts.accepted} of "
            f"{drafts.drafted} draft tokens accepted, "
            f"{time.perf_counter() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
        return found
