"""What decides the output of an engine's stages, for their keys."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch

from trtspec.build.command_line import Command
from trtspec.build.sources import Source
from trtspec.models.files import SETTINGS
from trtspec.trtllm.engine.built_for import KEY
from trtspec.trtllm.engine.compile import WORKERS
from trtspec.trtllm.installation import Installation

FORCED_PROFILES = "BUILDER_FORCE_NUM_PROFILES"
"""The one variable that trtllm-build goes by (tensorrt_llm/commands/build.py)."""

_READ_BY_SCRIPTS = ("config.json", "hf_quant_config.json")
_WITHOUT_EFFECT = tuple(name for name in SETTINGS if name not in _READ_BY_SCRIPTS)


def command_inputs(command: Command) -> dict[str, str]:
    """Give a command as far as it decides: how many work at once does not."""
    found = {"command": " ".join(_without(command.arguments, WORKERS))}
    if command.environment:
        variables = dict(command.environment)
        found["environment"] = json.dumps(variables, sort_keys=True)
    return found


def _without(arguments: Sequence[str], flag: str) -> Iterator[str]:
    """Leave out a flag and its value."""
    for i, argument in enumerate(arguments):
        if flag not in arguments[max(0, i - 1) : i + 1]:
            yield argument


def file_inputs(sources: Iterable[Source], *, calibrates: bool) -> dict[str, str]:
    """Give the hashes of the files that a script reads.

    :param calibrates: it runs the model, with its tokenizer; else weights and their
        configuration are all that it reads.
    """
    return {
        f"file {source.role}/{name}": digest
        for source in sources
        for name, digest in (source.files or {}).items()
        if calibrates or not any(fnmatch(name, like) for like in _WITHOUT_EFFECT)
    }


def machine_inputs(installation: Installation, gpus: int) -> dict[str, str]:
    """Give what an engine is bound to: TensorRT and the kinds of its GPUs.

    :param gpus: how many share the engine; the first ones that are visible.
    """
    used = installation.gpus[:gpus]
    found = {
        "tensorrt": installation.tensorrt or "unknown",
        "gpu": _listed(gpu.name for gpu in used),
        KEY: _listed(gpu.compute_capability or "none" for gpu in used),
    }
    if forced := os.environ.get(FORCED_PROFILES):
        found[FORCED_PROFILES] = forced
    return found


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values) or "none"
