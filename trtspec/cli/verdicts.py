"""Whether a backend can be used on this machine, why, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.reference.backend import ReferenceBackend
from trtspec.trtllm.examples import remedy, version_fault
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.installation import SERVER, Installation
from trtspec.trtllm.pytorch.build.availability import pytorch_problems
from trtspec.trtllm.removal import engine_problems

_ON_A_GPU = "use a machine with an NVIDIA GPU; a container needs --gpus all"


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
        yield what, _ON_A_GPU
    if found.examples is None:
        yield "no example scripts to convert with", remedy(found.version)
    elif fault := version_fault(found.examples, found.version):
        yield fault, remedy(found.version)


def _pytorch(found: Installation) -> Verdict:
    if problems := pytorch_problems(found):
        return Verdict("pytorch", False, problems[0].what, problems[0].action)
    if lacks := tuple(_lacks_for_pytorch(found)):
        whats, actions = zip(*lacks, strict=True)
        return Verdict("pytorch", False, "; ".join(whats), "; ".join(actions))
    assert found.version is not None, "pytorch_problems asks for it"
    what = f"TensorRT-LLM {found.version}, configured as {family_of(found.version)}"
    return Verdict("pytorch", True, what, "trtspec check RECIPE")


def _lacks_for_pytorch(found: Installation) -> Iterator[tuple[str, str]]:
    """Say what else running and serving take, each with the next step."""
    if not found.gpus:
        yield f"no GPU to run on ({found.why_absent('gpus')})", _ON_A_GPU
    if found.server is None:
        why = found.why_absent("server")
        yield f"no server: {why}", f"put the folder that has {SERVER} on PATH"
