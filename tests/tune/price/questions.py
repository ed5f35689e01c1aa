"""What the tests price with tables of kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from scripts.tune_published import LADDERS, compare
from tests.tune.price import models
from trtspec.methods import DraftTarget
from trtspec.tune.price.gpu import priced_kind
from trtspec.tune.price.priced import Priced
from trtspec.tune.price.prices import Grid, price
from trtspec.tune.price.subject import Subject

CONTEXT = 2048
GRID = Grid((1, 4, 16, 64), (1, 3, 5, 7), (1, 2, 3), CONTEXT)


def llama(directory: Path, **how: object) -> Priced:
    """Llama 3.1 8B on H200 without any drafter's cost."""
    target = models.placed(models.model(directory / "8b", models.LLAMA_8B), **how)
    return price(models.ngram(target), priced_kind("h200_sxm"), GRID, by="priced")


def llama_fp8(directory: Path) -> Priced:
    return llama(directory, quantization="fp8")


def llama_two_gpus(directory: Path) -> Priced:
    target = models.placed(models.model(directory / "8b", models.LLAMA_8B), gpus=2)
    head = models.eagle3_head(directory / "head", models.EAGLE3_8B)
    return price(models.eagle3(target, head), priced_kind("H200"), GRID, by="priced")


def with_head(directory: Path) -> Priced:
    target = models.placed(models.model(directory / "8b", models.LLAMA_8B))
    head = models.eagle3_head(directory / "head", models.EAGLE3_8B)
    return price(models.eagle3(target, head), priced_kind("H200"), GRID, by="priced")


def with_draft_model(directory: Path) -> Priced:
    target = models.placed(models.model(directory / "8b", models.LLAMA_8B))
    draft = models.placed(models.model(directory / "1b", models.LLAMA_1B))
    method = DraftTarget(method="draft_target", model="draft", draft_length=3)
    subject = Subject("toy", method, target, draft=draft)
    return price(subject, priced_kind("H200"), GRID, by="priced")


ALL: tuple[Callable[[Path], Priced], ...] = (
    llama,
    llama_fp8,
    llama_two_gpus,
    with_head,
    with_draft_model,
)


def ask_all(directory: Path) -> None:
    for question in ALL:
        question(directory)
    for ladder in LADDERS:
        compare(ladder, directory, "priced")
