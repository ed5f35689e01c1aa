"""Whether a backend can be used on this machine, why, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.reference.backend import ReferenceBackend
from trtspec.trtllm.examples import remedy, version_fault
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.removal import engine_problems
from trtspec.trtllm.rewrite import PYTORCH_BACKEND
from trtspec.trtllm.versions import contains


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a backend can be used here.

    :param what: why it can or cannot.
    :param action: the next step.
    """

    backend: str
    available: bool
    what: str
    action: str


def verdicts(found: Installation) -> tuple[Verdict, ...]:
    """Judge every backend that a recipe can name."""
    return _reference(), _tensorrt(found), _pytorch(found)


def _reference() -> Verdict:
    if missing := ReferenceBackend().missing():
        whats = "; ".join(problem.what for problem in missing)
        actions = "; ".join(problem.action for problem in missing)
        return Verdict("reference", False, whats, actions)
    what = "the embedded engine, on the CPU or another torch device"
    return Verdict("reference", True, what, "trtspec check RECIPE")


def _tensorrt(found: Installation) -> Verdict:
    if problems := engine_problems(found):
        return Verdict("tensorrt", False, problems[0].what, problems[0].action)
    if lacks := tuple(_lacks(found)):
        whats, actions = zip(*lacks, strict=True)
        return Verdict("tensorrt", False, "; ".join(whats), "; ".join(actions))
    what = f"TensorRT-LLM {found.version} has all that it takes"
    return Verdict("tensorrt", True, what, "trtspec check RECIPE")


def _lacks(found: Installation) -> Iterator[tuple[str, str]]:
    """Say what else an engine takes, each with the next step."""
    assert found.version is not None, "engine_problems asks for it"
    if not found.gpus:
        what = f"no GPU to build or run on ({found.why_absent('gpus')})"
        yield what, "use a machine with an NVIDIA GPU; a container needs --gpus all"
    if found.examples is None:
        yield "no example scripts to convert with", remedy(found.version)
    elif fault := version_fault(found.examples, found.version):
        yield fault, remedy(found.version)


def _pytorch(found: Installation) -> Verdict:
    if found.version is None:
        has = "no TensorRT-LLM that would have it was found"
    elif contains(PYTORCH_BACKEND, found.version):
        has = f"TensorRT-LLM {found.version} would have it"
    else:
        has = f"TensorRT-LLM {found.version} has none, 1.0 is the first with it"
    what = f"not in this version of trtspec; {has}"
    return Verdict(
        "pytorch",
        False,
        what,
        "set backend: reference, or tensorrt where it is available",
    )
