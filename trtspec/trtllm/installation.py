"""What of TensorRT-LLM is at hand: found on this machine, or assumed for a plan."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from packaging.version import Version

import trtspec
from trtspec.errors import UsageError
from trtspec.gpus import Gpu
from trtspec.trtllm.examples import Examples, assumed_examples, find_examples
from trtspec.trtllm.facts import has_backend, releases, removal, tensorrt_version
from trtspec.trtllm.versions import contains, parse

OPTION = "--trtllm"
SERVER = "trtllm-serve"
PYTORCH_BACKEND = ">=1.0"
"""Versions of TensorRT-LLM that have backend pytorch, whatever its rules there."""

Part = Literal[
    "package",
    "version",
    "tensorrt",
    "builder",
    "executor",
    "server",
    "worker",
    "runtime",
    "examples",
    "cuda",
    "gpus",
]


class Absence(NamedTuple):
    """Something that is not there: a fact, not an error."""

    what: Part
    why: str


@dataclass(frozen=True, slots=True)
class Installation:
    """TensorRT-LLM and what it needs, as far as it is there.

    :param version: of TensorRT-LLM; None if it is not installed or does not say.
    :param tensorrt: version of TensorRT.
    :param builder: the executable ``trtllm-build``, with the package's part behind it.
    :param package: folder of the package ``tensorrt_llm``.
    :param executor: whether ``tensorrt_llm.bindings.executor`` is there, compiled.
    :param server: the executable ``trtllm-serve``.
    :param worker: ``bin/executorWorker`` of the package: two executors need it.
    :param examples: the example scripts, which convert and quantize.
    :param cuda: version of the CUDA runtime.
    :param driver: version of the NVIDIA driver.
    :param assumed: nothing was looked at: it is what NVIDIA's image of that version
        has, and the paths are names, not places on this machine.
    :param absences: what was looked for and is not there, with the reason.
    """

    version: Version | None = None
    tensorrt: str | None = None
    builder: Path | None = None
    package: Path | None = None
    executor: bool = False
    worker: Path | None = None
    examples: Examples | None = None
    cuda: str | None = None
    driver: str | None = None
    gpus: tuple[Gpu, ...] = ()
    assumed: bool = False
    absences: tuple[Absence, ...] = ()
    server: Path | None = None

    def versions(self) -> dict[str, str]:
        """Versions of what builds and runs here, ours and Python's among them."""
        found = {
            "tensorrt_llm": str(self.version) if self.version else None,
            "cuda": self.cuda,
            "driver": self.driver,
            "gpu": next((gpu.name for gpu in self.gpus), None),
        }
        python = ".".join(map(str, sys.version_info[:3]))
        ours = {"trtspec": trtspec.__version__, "python": python}
        return ours | {name: value or "unknown" for name, value in found.items()}

    def why_absent(self, part: Part) -> str:
        """Say why a part is not there; empty if it is, or if nobody looked."""
        return next((why for what, why in self.absences if what == part), "")


def assumed_for(version: str, examples: Path | None = None) -> Installation:
    """Describe NVIDIA's image of a version, for plans without TensorRT-LLM.

    :param version: a release such as ``1.2.1``. One that the facts do not know yet is
        taken as it is: without an engine backend. From 1.0 on it has ``trtllm-serve``.
    :param examples: folder of its example scripts, to be looked at; the image's
        folder, not looked at, if None.
    :raises UsageError: it is no version, or older than what trtspec drives.
    """
    wanted = parse(version, where=OPTION)
    if not has_backend(wanted):
        return _without_engines(wanted)
    package = Path("tensorrt_llm")
    return Installation(
        version=wanted,
        tensorrt=tensorrt_version(wanted),
        builder=Path("trtllm-build"),
        package=package,
        executor=True,
        server=_server(wanted),
        worker=package / "bin" / "executorWorker",
        examples=find_examples(examples, wanted) if examples else assumed_examples(),
        assumed=True,
    )


def _without_engines(version: Version) -> Installation:
    if is_too_old(version):
        raise UsageError(
            f"TensorRT-LLM {version} is older than what trtspec drives",
            where=OPTION,
            allowed=supported_range(),
        )
    why = f"the engine path was removed upstream in {removal().first_without}"
    return Installation(
        version=version,
        package=Path("tensorrt_llm"),
        server=_server(version),
        assumed=True,
        absences=(Absence("builder", why), Absence("executor", why)),
    )


def _server(version: Version) -> Path | None:
    """The server of a version with backend pytorch, which older ones lack."""
    return Path(SERVER) if contains(PYTORCH_BACKEND, version) else None


def is_too_old(version: Version) -> bool:
    """Whether a version is older than every one that trtspec drives."""
    public = Version(version.public)  # 1.3.0rc20+local is not newer than 1.3.0rc20
    return public <= Version(removal().last) and not has_backend(public)


def supported_range() -> str:
    """The versions with an engine backend that trtspec drives, in words."""
    return f"{releases()[0].version} to {removal().last}"
