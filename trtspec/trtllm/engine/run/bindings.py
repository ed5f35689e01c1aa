"""How TensorRT-LLM's C++ executor is reached, and what its version takes."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.errors import BackendUnavailableError, RunError
from trtspec.trtllm import facts

PARENT = "tensorrt_llm"
MODULE = "tensorrt_llm.bindings.executor"


@dataclass(frozen=True, slots=True)
class Bindings:
    """The module ``tensorrt_llm.bindings.executor`` of a known version."""

    module: Any
    version: Version

    def has(self, class_name: str, field: str) -> bool:
        """Whether a class is known to take an argument in this version."""
        return field in facts.fields(class_name, self.version)

    def make(self, class_name: str, **arguments: Any) -> Any:
        """Construct an object of the bindings.

        :raises RunError: if the version is not known to take an argument, or one that
            it requires is not given: a fault of trtspec, caught before the engine.
        """
        known = facts.fields(class_name, self.version)
        unknown = [name for name in arguments if name not in known]
        missing = [f.name for f in known.values() if f.required]
        missing = [name for name in missing if name not in arguments]
        if unknown or missing:
            fault = "has no" if unknown else "requires"
            raise RunError(
                f"internal error: {class_name} of TensorRT-LLM {self.version} {fault} "
                f"argument {', '.join(unknown or missing)}",
                allowed=", ".join(known),
                action="report this as a fault of trtspec",
            )
        return getattr(self.module, class_name)(**arguments)


def load_bindings(version: Version) -> Bindings:
    """Import the executor's bindings.

    :param version: of the installed TensorRT-LLM.
    :raises BackendUnavailableError: if they cannot be loaded.
    """
    try:
        importlib.import_module(PARENT)  # loads the plugins that engines need
        return Bindings(importlib.import_module(MODULE), version)
    except (ImportError, OSError, RuntimeError) as error:
        raise BackendUnavailableError(
            f"cannot be imported: {error}",
            where=MODULE,
            action="trtspec doctor says what is missing",
        ) from error
