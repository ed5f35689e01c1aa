"""A toy target on disk, answers that it wrote, and objectives for it."""

from __future__ import annotations

from pathlib import Path

import torch

from tests.reference.artifacts import write_model
from tests.reference.toys import toy_model
from trtspec.fit.answers import read_answers
from trtspec.fit.conversations import conversations
from trtspec.fit.draft_model import DraftModelObjective
from trtspec.fit.eagle3 import Eagle3Objective
from trtspec.fit.generate import Lengths
from trtspec.fit.medusa import MedusaObjective
from trtspec.fit.mtp import MtpObjective
from trtspec.fit.schedule import Schedule
from trtspec.fit.settings import Settings
from trtspec.fit.states import StateStore
from trtspec.fit.target import Target, identify, load_target
from trtspec.fit.trainer import Trainer
from trtspec.fit.vocabulary import frequent_tokens
from trtspec.fit.writing import write_answers

LENGTHS = Lengths(prompt=20, answer=24, turn=6)
KINDS = ("eagle3", "medusa", "draft-model", "mtp")


def toy_target(directory: Path, seed: int = 0) -> Target:
    """Load a toy in float32; it is written if it is not there."""
    if not directory.exists():
        write_model(directory, seed)
    return load_target(directory, "float32", "cpu")


def toy_answers(
    path: Path, target: Target, count: int, temperatures=(0.0,), *, slots=8, seed=0
):
    """Let the toy write answers to turns of its own; gives all of the file."""
    wanted = list(conversations(target.directory, (), count, temperatures, seed=seed))
    write_answers(path, target, wanted, LENGTHS, slots=slots, told=lambda _: None)
    return read_answers(path, target.vocabulary)


def toy_objective(kind: str, target: Target, answers, steps: int = 3):
    """Make a drafter of a kind for the toy, seeded."""
    torch.manual_seed(0)
    ids = frequent_tokens(answers, target.vocabulary, 40 if kind == "eagle3" else 48)
    if kind == "medusa":
        return MedusaObjective(target, steps, layers=1, places=96, often=ids)
    if kind == "draft-model":
        return DraftModelObjective(target, 32, 1, steps, places=96, often=ids)
    if kind == "mtp":
        return MtpObjective(target, steps, places=96, often=ids)
    return Eagle3Objective(target, ids, (0, 1), steps)


def toy_store(directory: Path, target: Target, layers, answers) -> StateStore:
    """Store the toy's states of all answers."""
    identity = identify(target.directory)
    store = StateStore(directory, identity, layers, target.hidden_size)
    store.extend(target, answers)
    return store


def toy_trainer(objective, answers, store, steps: int = 60) -> Trainer:
    """Train in a way that shows in a few steps."""
    settings = Settings(batch_tokens=160, average=0.9)
    schedule = Schedule(peak=2e-2, steps=steps, warmup=2, decay=0.5)
    return Trainer(
        objective,
        answers,
        store,
        settings,
        schedule=schedule,
        prepare=lambda some: store.extend(objective.target, some),
    )


def train(trainer: Trainer, steps: int) -> list[float]:
    """Do steps; gives their losses."""
    return [float(trainer.step().loss) for _ in range(steps)]


@torch.no_grad()
def round_weights(module: torch.nn.Module) -> None:
    """Round to what is exported, so that an exported drafter computes the same."""
    for parameter in module.parameters():
        parameter.copy_(parameter.bfloat16().float())


def random_prompts(count: int) -> list[tuple[int, ...]]:
    """Give prompts of different lengths."""
    return [
        tuple(3 + (7 * n + 5 * i) % 44 for i in range(1 + n % 4)) for n in range(count)
    ]


def same_model() -> torch.nn.Module:
    """Give the toy that ``toy_target`` writes, as the engine's tests know it."""
    return toy_model()
