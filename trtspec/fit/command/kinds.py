"""Which objective each subcommand of `fit_drafter.py` fits."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

from trtspec.errors import UsageError
from trtspec.files import write_atomic
from trtspec.fit.answers import load_answers
from trtspec.fit.draft_model import DraftModelObjective
from trtspec.fit.eagle3 import Eagle3Objective
from trtspec.fit.medusa import MedusaObjective
from trtspec.fit.mtp import MtpObjective
from trtspec.fit.objective import Objective
from trtspec.fit.target import Target
from trtspec.fit.vocabulary import frequent_tokens
from trtspec.reference.heads.stored import read_tensors


def make_objective(target: Target, options: argparse.Namespace) -> Objective:
    """Make the drafter of ``options.kind``, with weights as training begins."""
    torch.manual_seed(options.seed)
    objective = _new(target, options)
    if options.begin_from:
        objective.begin_from(options.begin_from)
    return objective


def _new(target: Target, options: argparse.Namespace) -> Objective:
    steps = options.draft_length
    ids = draft_vocabulary(target, options)
    if options.kind == "medusa":
        layers = options.residual_layers
        return MedusaObjective(target, steps, layers, options.places, ids)
    if options.kind == "draft-model":
        shape = (options.width, options.depth, steps)
        return DraftModelObjective(target, *shape, places=options.places, often=ids)
    if options.kind == "mtp":
        return MtpObjective(target, steps, options.places, ids)
    return Eagle3Objective(target, ids, fused_layers(target, options.layers), steps)


def fused_layers(target: Target, given: str | None) -> tuple[int, ...]:
    """Give the target layers to fuse: near the bottom, the middle and the top.

    The ids are those whose outputs SafeAILab/EAGLE reads by default.

    :param given: numbers with commas between them.
    :raises UsageError: if the target has no such layer.
    """
    if given is None:
        return eagle3_layers(target.layers)
    try:
        layers = tuple(int(part) for part in given.split(","))
    except ValueError:
        layers = (-1,)
    if not all(0 <= layer < target.layers for layer in layers):
        raise UsageError(
            f"layers {given}",
            where="--layers",
            allowed=f"numbers from 0 to {target.layers - 1}, with commas between them",
        )
    return layers


def eagle3_layers(layers: int) -> tuple[int, ...]:
    """Give three layers of a model that has so many."""
    return tuple(sorted({min(2, layers - 1), layers // 2, max(layers - 3, 0)}))


def draft_vocabulary(target: Target, options: argparse.Namespace) -> Tensor:
    """Choose the tokens once per run: they stay when the answers grow."""
    path = options.work / "draft_vocabulary.json"
    size = min(options.draft_vocabulary, target.vocabulary)
    if options.begin_from and options.kind == "eagle3":
        return vocabulary_of(options.begin_from)
    if path.exists():
        ids = json.loads(path.read_text(encoding="utf-8"))
        if len(ids) == size:
            return torch.tensor(ids)
        raise UsageError(
            f"a vocabulary of {size} tokens",
            where=str(path),
            allowed=f"{len(ids)}, with which this run began",
        )
    answers = load_answers(options.answers, target)
    ids = frequent_tokens(answers, target.vocabulary, size)
    options.work.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(ids.tolist()))
    return ids


def vocabulary_of(directory: Path) -> Tensor:
    """Give the target's ids of a head's draft tokens.

    :raises UsageError: if it is no head with a vocabulary of its own.
    """
    table = read_tensors(directory, {"d2t": "d2t"})
    if not table:
        raise UsageError(
            f"no table d2t in {directory}",
            where="--begin-from",
            allowed="an EAGLE-3 head with a reduced vocabulary",
        )
    return table["d2t"] + torch.arange(len(table["d2t"]))
