"""Whether the target's weights have, or can get, the type that the recipe asks for."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import DraftTarget
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.libraries import MODELOPT
from trtspec.trtllm.pytorch.build.quantize import (
    asks_for_quantizing,
    is_to_be_quantized,
    options,
)
from trtspec.trtllm.stored import ALGORITHMS, stored_quantization

_KEY = ("target", "quantization")


def is_readable(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse quantizations that backend pytorch does not read."""
    wanted = subject.recipe.target.quantization
    if wanted != "none" and not asks_for_quantizing(subject.recipe):
        yield Finding(
            "quantization",
            "blocking",
            subject.where(*_KEY),
            f"quantization {wanted} does not exist on backend pytorch",
            f"it reads: {', '.join(ALGORITHMS)} (docs/source/features/quantization.md)",
            "choose one of these, or backend: tensorrt",
        )


def is_as_stored(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Hold the recipe against a checkpoint that is quantized already."""
    wanted, target = subject.recipe.target.quantization, subject.target
    stored = "none" if target is None else stored_quantization(target)
    if stored in ("none", wanted):
        return
    where = subject.where(*_KEY)
    if wanted == "none":
        yield Finding(
            "quantization",
            "note",
            where,
            f"the target model's weights are stored as {stored}",
            "they are taken as they are; target.dtype has no effect on them",
        )
        return
    yield Finding(
        "quantization",
        "blocking",
        where,
        f"quantization {wanted}, but the target model's weights are stored as {stored}",
        "what is quantized already cannot be quantized to something else",
        f"write quantization: {stored if stored in ALGORITHMS else 'none'}, or give "
        "the checkpoint as it was before",
    )


def draft_is_taken_as_it_is(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse to quantize a draft model, which build does not."""
    method = subject.recipe.speculation
    if not isinstance(method, DraftTarget) or method.quantization == "none":
        return
    draft = subject.draft
    if draft is not None and stored_quantization(draft) == method.quantization:
        return
    yield Finding(
        "quantization",
        "blocking",
        subject.where("speculation", "quantization"),
        f"quantization {method.quantization} of the draft model",
        "build quantizes only the target on backend pytorch",
        "set speculation.quantization to none, or give a draft model that is stored so",
    )


def can_be_made_here(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Refuse to quantize without ModelOpt, or without prompts to calibrate with."""
    recipe = subject.recipe
    if not is_to_be_quantized(recipe, subject.target):
        return
    where, wanted = subject.where(*_KEY), recipe.target.quantization
    if options(recipe).calibration_prompts is None and recipe.workload is None:
        yield Finding(
            "calibration",
            "blocking",
            where,
            f"quantization {wanted} without prompts to calibrate with",
            "NVIDIA ModelOpt finds the scales by running prompts such as will be sent",
            "add pytorch.calibration_prompts, or a workload",
        )
    if not installation.assumed and find_spec("modelopt") is None:
        known = subject.target is not None
        yield Finding(
            "quantization",
            "blocking" if known else "note",
            where,
            f"{MODELOPT} is not installed, and quantization {wanted} needs it"
            + ("" if known else " unless the target is quantized already"),
            "build quantizes the target with it",
            f"pip install {MODELOPT}, or give a checkpoint that is quantized already",
        )


def calibration_has_an_effect(_: Installation, subject: Subject) -> Iterator[Finding]:
    """Warn of calibration where nothing is quantized."""
    recipe = subject.recipe
    if is_to_be_quantized(recipe, subject.target):
        return
    given = options(recipe).model_fields_set
    for key in ("calibration_prompts", "calibration_samples"):
        if key in given and getattr(options(recipe), key) is not None:
            yield Finding(
                "calibration",
                "warning",
                subject.where("pytorch", key),
                f"{key} has no effect",
                "build does not quantize the target",
                f"delete pytorch.{key}, or set target.quantization",
            )
