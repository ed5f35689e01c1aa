"""How backend tensorrt builds: what it needs here, its rules, its stages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from packaging.version import Version

from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.check.rules import Rule
from trtspec.errors import Problem
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.rules import engine_rules
from trtspec.trtllm.engine.stages import engine_stages
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.examples import remedy, version_fault
from trtspec.trtllm.facts import has_backend
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.removal import engine_problems


@dataclass(frozen=True, slots=True)
class TensorRTBackend:
    """Builds artifacts of TensorRT engines; see ``trtspec.build.backend``.

    :param installation: what is here, or is assumed for a plan.
    :param recipe: what is to be built, to be named in the ways on.
    """

    installation: Installation
    recipe: Recipe | None = None

    @property
    def name(self) -> str:
        """The name that a recipe gives it."""
        return "tensorrt"

    @property
    def version(self) -> Version | None:
        """The version of TensorRT-LLM; None if it is not here."""
        return self.installation.version

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What this version refuses, or quietly does differently."""
        return engine_rules(self.installation)

    def missing(self, formats: Collection[str] = ()) -> list[Problem]:
        """Say what a build here would lack, and the ways on for the recipe."""
        return list(self._missing())

    def _missing(self) -> Iterator[Problem]:
        yield from engine_problems(self.installation, self.recipe)
        version, examples = self.installation.version, self.installation.examples
        if version is None or self.installation.assumed or not has_backend(version):
            return
        if examples is None:
            why = self.installation.why_absent("examples")
            what = f"no example scripts to convert with: {why}"
            yield Problem(what, action=remedy(version))
        elif fault := version_fault(examples, version):
            yield Problem(fault, action=remedy(version))

    def versions(self) -> dict[str, str]:
        """Versions of what builds and runs the engines here."""
        tensorrt = self.installation.tensorrt or "unknown"
        return self.installation.versions() | {"tensorrt": tensorrt}

    def stages(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Convert, quantize and compile, target and draft model."""
        return engine_stages(Toolchain(self.installation), inputs)

    def links(self, inputs: StageInputs) -> dict[str, Source]:
        """Every folder is made by a stage."""
        return {}

    def outline(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Plan the same of what the recipe alone tells."""
        return engine_stages(Toolchain(self.installation), inputs)
