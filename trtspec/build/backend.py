"""What a backend must say so that build can plan and make an artifact for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from packaging.version import Version

from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.check.rules import Rule
from trtspec.errors import Problem
from trtspec.gpu_kinds import GpuKind, kind_of


class Backend(Protocol):
    """Builds artifacts of one kind: the stages, and what they need here."""

    @property
    def name(self) -> str:
        """The name that a recipe's ``backend`` gives it."""
        ...

    def missing(self, formats: Collection[str] = ()) -> list[Problem]:
        """Say what is not here, each with the next step as its action.

        :param formats: formats of the checkpoints: "safetensors", "gguf".
        """
        ...

    def versions(self) -> dict[str, str]:
        """Give the versions of what builds and runs an artifact here."""
        ...

    @property
    def version(self) -> Version | None:
        """The version of TensorRT-LLM; None if the backend is none of its."""
        ...

    @property
    def rules(self) -> Sequence[Rule]:
        """What the backend itself refuses or warns of, beside the rules for all."""
        ...

    def stages(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Plan the stages between the checkpoints and the artifact, in order.

        A stage whose ``folder`` is set becomes that folder of the artifact. No file
        is written, and no library that loads slowly is imported.

        :raises BuildError: if the backend cannot build from such a checkpoint.
        """
        ...

    def links(self, inputs: StageInputs) -> Mapping[str, Source]:
        """Say which folders of the artifact are links to a checkpoint as it is.

        By folder; none of them may be a stage's. What a link leads to is held against
        the checkpoint's hashes whenever the artifact is opened.
        """
        ...

    def outline(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Plan the stages as far as that goes while a checkpoint is not known yet.

        Their keys mean nothing yet. Empty if nothing can be said.

        :raises BuildError: if the backend cannot build such a recipe.
        """
        ...


def gpus_seen_by(backend: Backend) -> tuple[GpuKind, ...]:
    """Give the GPUs of a backend that looks for any: those of TensorRT-LLM do."""
    installation = getattr(backend, "installation", None)
    return tuple(map(kind_of, installation.gpus)) if installation else ()
