"""Strict stand-ins of TensorRT-LLM's two backends, for one version at a time.

They accept what the facts establish for the version and nothing else, write the files
that the real tools write, and generate tokens with the reference engine.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.decoding import Decoding
from tests.standins.layout import lay_out
from tests.standins.machine import Machine
from trtspec.trtllm.facts import has_backend

__all__ = ["Decoding", "StandIn", "install"]

PACKAGE = "tensorrt_llm"
_SUBMODULES = (
    "version",
    "bindings",
    "bindings.executor",
    "commands",
    "commands.build",
    "builder",
    "llmapi",
    "llmapi.llm",
    "llmapi.llm_args",
    "sampling_params",
    "_torch",
    "_torch.speculative",
    "_torch.speculative.drafter",
)
MODULES = ("pynvml", PACKAGE, *(f"{PACKAGE}.{name}" for name in _SUBMODULES))


@dataclass(frozen=True)
class StandIn:
    """An installation of stand-ins.

    :ivar bin: folder with ``trtllm-build``; belongs first on PATH.
    :ivar site: folder with the package ``tensorrt_llm``; belongs on PYTHONPATH.
    :ivar examples: folder with the example scripts.
    """

    root: Path
    version: str

    @property
    def bin(self) -> Path:
        return self.root / "bin"

    @property
    def site(self) -> Path:
        return self.root / "site"

    @property
    def examples(self) -> Path:
        return self.root / "examples"

    @property
    def worker(self) -> Path:
        """The executable that orchestrator mode starts."""
        return self.site / "tensorrt_llm" / "bin" / "executorWorker"

    def environment(self) -> dict[str, str]:
        """Environment in which subprocesses find the stand-ins."""
        before = dict(os.environ)
        return {
            **before,
            "PATH": _joined(self.bin, before.get("PATH", os.defpath)),
            "PYTHONPATH": _joined(self.site, before.get("PYTHONPATH", "")),
            "TRTSPEC_TRTLLM_EXAMPLES": str(self.examples),
        }

    def activate(self, monkeypatch: Any) -> None:
        """Make this process find the stand-ins, until the test ends.

        What an earlier test imported as ``tensorrt_llm`` is forgotten now, and what
        this one imports when ``monkeypatch`` undoes.
        """
        for key in ("PATH", "PYTHONPATH", "TRTSPEC_TRTLLM_EXAMPLES"):
            monkeypatch.setenv(key, self.environment()[key])
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
        for name in MODULES:
            # noted as absent, so that undoing removes what the test imports
            monkeypatch.setitem(sys.modules, name, sys)
            del sys.modules[name]
        monkeypatch.syspath_prepend(str(self.site))
        importlib.invalidate_caches()

    def fail(self, what: str | None) -> None:
        """Make later calls fail in a documented way; None ends that.

        :param what: ``name`` or ``where:name`` or ``where#n:name`` (the n-th call from
            now on); where is a stage or a program. ``failing.known`` lists them, and
            ``serving.failing.KNOWN`` those of ``trtllm-serve``, as ``serve:name`` or
            ``serve:name=value``.
        """
        Machine(self.root).set_fail(what)

    def pace(self, seconds: float) -> None:
        """Make every iteration of an LLM take at least so long."""
        Machine(self.root).set_pace(seconds)

    def events(self, event: str | None = None) -> list[dict[str, Any]]:
        """What LLMs and servers did, in order.

        :param event: ``open``, ``iteration``, ``request``, ``deprecated``, ``warning``,
            ``worker``, ``listening``, ``disconnect``, ``shutdown``; all if None.
        """
        return Machine(self.root).events(event)

    def decoding(self) -> Decoding:
        """The truth about what was drafted and accepted so far."""
        return Decoding(self.events("iteration"), self.events("request"))

    def calls(self) -> list[dict[str, Any]]:
        """Every call so far: program, argv, cwd, selected environment."""
        return Machine(self.root).calls()


def install(
    root: Path,
    version: str,
    *,
    builder: bool = True,
    examples: bool = True,
    fail: str | None = None,
    gpus: int = 1,
    examples_version: str | None = None,
    pytorch: bool = False,
) -> StandIn:
    """Lay out an installation of a version below ``root``.

    :param builder: whether it has ``trtllm-build``.
    :param examples: whether there is an examples folder.
    :param fail: see ``StandIn.fail``.
    :param gpus: how many GPUs the stand-ins see; ``STANDIN_GPU_CC`` (9.0) says which.
    :param examples_version: version of the examples, if it is another one.
    :param pytorch: whether it has ``LLM``, ``trtllm-serve`` and the launchers; parts of
        the engine backend are there only if the version has them.
    """
    root.mkdir(parents=True, exist_ok=True)
    Machine(root).create(gpus, fail)
    if pytorch and not has_backend(Version(version)):
        builder = examples = False
    described = (examples_version or version) if examples else None
    lay_out(root, version, builder, described, gpus, pytorch=pytorch)
    return StandIn(root, version)


def _joined(first: Path, rest: str) -> str:
    return os.pathsep.join([str(first), rest] if rest else [str(first)])
