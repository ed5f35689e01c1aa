"""How backend pytorch builds: what it needs here, its rules, its stages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from packaging.version import Version

from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.check.rules import Rule
from trtspec.errors import Problem
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.libraries import MODELOPT, library_inputs
from trtspec.trtllm.pytorch.build.availability import pytorch_problems
from trtspec.trtllm.pytorch.build.rules import pytorch_rules
from trtspec.trtllm.pytorch.build.stages import checkpoint_links, pytorch_stages


@dataclass(frozen=True, slots=True)
class PyTorchBackend:
    """Builds artifacts of backend pytorch; see ``trtspec.build.backend``.

    :param installation: what is here, or is assumed for a plan.
    :param recipe: what is to be built, to be named in the ways on.
    """

    installation: Installation
    recipe: Recipe | None = None

    @property
    def name(self) -> str:
        """The name that a recipe gives it."""
        return "pytorch"

    @property
    def version(self) -> Version | None:
        """The version of TensorRT-LLM; None if it is not here."""
        return self.installation.version

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What this version refuses, or quietly does differently."""
        return pytorch_rules(self.installation)

    def missing(self, formats: Collection[str] = ()) -> list[Problem]:
        """Say what a build here would lack, and the ways on for the recipe."""
        return list(pytorch_problems(self.installation, self.recipe))

    def versions(self) -> dict[str, str]:
        """Versions of what configures, quantizes and runs here."""
        quantized_with = library_inputs([MODELOPT, "transformers"])
        return self.installation.versions() | quantized_with

    def links(self, inputs: StageInputs) -> dict[str, Source]:
        """Target and drafter, where neither quantizing nor converting changes them."""
        return checkpoint_links(inputs)

    def stages(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Quantize and convert where that is needed; write the configuration."""
        return pytorch_stages(inputs, self.installation)

    def outline(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Plan the same of what the recipe alone tells."""
        return pytorch_stages(inputs, self.installation)
