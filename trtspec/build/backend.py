"""What a backend must say so that build can plan and make an artifact for it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from trtspec.build.sources import StageInputs
from trtspec.build.stage import Stage


class Backend(Protocol):
    """Builds artifacts of one kind: the stages, and what they need here."""

    @property
    def name(self) -> str:
        """The name that a recipe's ``backend`` gives it."""
        ...

    def missing(self, formats: Collection[str] = ()) -> list[str]:
        """Say what is not installed here, each with the command that installs it.

        :param formats: formats of the checkpoints: "safetensors", "gguf".
        """
        ...

    def versions(self) -> dict[str, str]:
        """Give the versions of what builds and runs an artifact here."""
        ...

    def stages(self, inputs: StageInputs) -> tuple[Stage, ...]:
        """Plan the stages between the checkpoints and the artifact, in order.

        A stage whose ``folder`` is set becomes that folder of the artifact. No file
        is written, and no library that loads slowly is imported.

        :raises BuildError: if the backend cannot build from such a checkpoint.
        """
        ...
