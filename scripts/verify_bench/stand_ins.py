"""Stand-ins of TensorRT-LLM's two backends, reached through the real runners.

Faults are planted into the stand-ins: what a runner asks for and what it makes of the
answers is the code that also runs on a GPU.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.standins import install
from tests.standins.executor.active import Active
from tests.standins.llm.stream import TrueStream
from tests.trtllm.engine.run.on_standins import StandInOpener
from tests.trtllm.pytorch.run.artifacts import installed, write_artifact
from trtspec.reference.acceptance import Rule, Verified
from trtspec.reference.acceptance.planted import CONTROL, PLANTED, Penalised
from trtspec.reference.chance import SeededChance
from trtspec.reference.tree import DraftTree
from trtspec.run import Runner, SamplingParams
from trtspec.trtllm.pytorch.run import open_runner
from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.collect import Collected, Prompts, ask
from verify_bench.arms import RunnerArm
from verify_bench.rates import NO_FAULT, Planted

PROMPTS: Prompts = {
    "a": (41, 18, 11, 46),
    "b": (37, 32, 27, 42),
    "c": (36, 17, 31),
    "d": (10, 26, 26, 31),
}
"""Behind them the toy model is uncertain: else no fault of sampling shows."""
SERVED = "1.4.0rc4"
PRESENCE = 1.5
FAULTY = 1.1
NATIVE = "p(2-p) resampling"
"""The executor's stand-in has it of itself, for draft tokens without logits."""

Fault = Callable[[], AbstractContextManager[object]]


def planted_in(backend: str, plan: Plan, exact: float) -> dict[str, Planted]:
    """Let every arm of a backend answer.

    :param exact: times what a run needs, for arms without a fault.
    """
    torch.set_num_threads(1)
    patch = pytest.MonkeyPatch()
    with tempfile.TemporaryDirectory() as folder:
        try:
            arms = OPEN[backend](patch, Path(folder))
            return _answers(*arms, plan, exact)
        finally:
            patch.undo()


def _answers(
    open_one: Callable[[str], Runner],
    plant: Callable[[Rule, bool], Fault],
    natural: str,
    plan: Plan,
    exact: float,
) -> dict[str, Planted]:
    """Ask off arms first: two engines in one process need not live together."""
    asked = _Asked(plan)
    runner = open_one("off")
    off = asked("off", runner, plan.off_seeds * exact)
    penalty = plant(Penalised(PRESENCE), True)
    penalised = asked("off, penalised", runner, plan.off_seeds * FAULTY, penalty)
    _close(runner)
    runner = open_one("on")
    on = asked("on", runner, plan.seeds * exact)
    wrong = {
        name: asked(name, runner, plan.seeds * FAULTY, plant(rule, False))
        for name, rule in PLANTED.items()
        if name != natural
    }
    _close(runner)
    if natural:
        runner = open_one(natural)
        wrong[natural] = asked(natural, runner, plan.seeds * FAULTY)
        _close(runner)
    found = {NO_FAULT: Planted(on, off, wrong[CONTROL])}
    found |= {name: Planted(one, off, wrong[CONTROL]) for name, one in wrong.items()}
    found["dropped penalty"] = Planted(on, penalised, wrong[CONTROL])
    return found


class _Asked:
    """Asks runners, with a new seed for every request."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._next = 0

    def __call__(
        self, name: str, runner: Runner, count: float, fault: Fault = nullcontext
    ) -> Collected:
        started = time.perf_counter()
        arm = RunnerArm(name, runner, ignore_eos=True, around=fault)
        found = ask(arm, PROMPTS, self._plan, self._next, round(count))
        self._next += round(count)
        print(
            f"{name}: {len(found.answers)} answers, "
            f"{time.perf_counter() - started:.0f} s",
            file=sys.stderr,
            flush=True,
        )
        return found


def _close(runner: Any) -> None:
    runner.close()


def _executor(
    patch: pytest.MonkeyPatch, folder: Path
) -> tuple[Callable[[str], Runner], Callable[[Rule, bool], Fault], str]:
    """The engine backend: draft tokens with their logits, from the same model."""
    opener = StandInOpener(patch, folder)

    def open_one(arm: str) -> Runner:
        options: dict[str, Any] = {"draft_seed": 0, "use_draft_logits": True}
        if arm == NATIVE:
            options = {"draft_seed": 0, "allow_lossy": True}
        opened = opener("none") if arm == "off" else opener("draft_target", **options)
        runner: Runner = opened[0]
        return runner

    return open_one, executor_fault, NATIVE


def _llm(
    patch: pytest.MonkeyPatch, folder: Path
) -> tuple[Callable[[str], Runner], Callable[[Rule, bool], Fault], str]:
    """The PyTorch backend: its stand-in knows one EAGLE-3 draft token at a time."""
    install(folder / "installed", SERVED, pytorch=True).activate(patch)
    limits = {"max_batch_size": 16, "max_total_tokens": 50}

    def open_one(arm: str) -> Runner:
        method = "none" if arm == "off" else "eagle3"
        artifact = write_artifact(folder / method, SERVED, method, limits=limits)
        return open_runner(artifact, installed(SERVED))

    return open_one, llm_fault, ""


def executor_fault(rule: Rule, everywhere: bool) -> Fault:
    """Put a rule of acceptance into the executor's stand-in.

    :param everywhere: where nothing was drafted, too.
    """
    usual = Active._accept  # noqa: SLF001 - the stand-in's own decision

    @contextmanager
    def fault() -> Iterator[None]:
        def accept(self: Any, tree: DraftTree, logits: Any) -> Any:
            if not (len(tree) or everywhere):
                return usual(self, tree, logits)
            return ruled(self, tree, logits, rule)

        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(Active, "_accept", accept)
            yield

    return fault


def ruled(active: Any, tree: DraftTree, logits: Any, rule: Rule) -> Any:
    """Let a rule decide for a request of the executor's stand-in."""
    draft = active._request.external_draft_tokens_config  # noqa: SLF001
    rows = torch.as_tensor(logits)
    q: Any = ()
    if len(tree) and draft.logits is not None:
        q = draft.logits[: len(tree)].double().softmax(-1)
    seen = Verified(
        DraftTree.chain(tree.tokens, tuple(q)),
        rows,
        rows.argmax(-1).tolist(),
        tuple(active._tokens),  # noqa: SLF001
    )
    own = vars(active._chooser)  # noqa: SLF001
    return rule(seen, own["_sampling"], own["_chance"])


def llm_fault(rule: Rule, everywhere: bool) -> Fault:
    """Put a rule of acceptance into the LLM's stand-in; see ``executor_fault``."""

    @contextmanager
    def fault() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(TrueStream, "_choose", wrongly(rule, not everywhere))
            yield

    return fault


def wrongly(rule: Rule, drafts: bool) -> Callable[[Any, Any], int]:
    """Choose the next token as a rule would behind the likeliest one as a draft."""

    def choose(self: Any, logits: Any) -> int:
        if self._chance is None:
            self._chance = SeededChance(self.sampling.seed or 0)
        sampling = SamplingParams(
            self.sampling.temperature, self.sampling.top_k or 0, self.sampling.top_p
        )
        row = torch.as_tensor(logits)
        best = int(row.argmax())
        offered = [best] if drafts and self.said else []
        tree = DraftTree.chain(offered)
        seen = Verified(
            tree,
            torch.stack([row] * (1 + len(offered))),
            [best] * (1 + len(offered)),
            (*self.prompt, *self.said),
        )
        path, token = rule(seen, sampling, self._chance)
        return offered[0] if path else token

    return choose


OPEN = {"tensorrt": _executor, "pytorch": _llm}
