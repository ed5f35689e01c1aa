"""How a drafter's files are written, so that a reader never sees half of one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from trtspec.errors import RunError
from trtspec.files import write_atomic


def export(
    directory: Path,
    config: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    name: str = "model.safetensors",
) -> None:
    """Write config.json and the weights, numbers in bfloat16.

    :param tensors: by their public names.
    :raises RunError: if the disk is full.
    """
    path = directory / name
    temporary = path.with_name(f".{name}.{os.getpid()}.tmp")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        save_file(_published(tensors), temporary, {"format": "pt"})
        # safetensors lets only the owner read what it writes
        temporary.chmod(0o644)
        temporary.replace(path)
        write_atomic(directory / "config.json", json.dumps(config, indent=2) + "\n")
    except OSError as error:
        raise RunError(
            f"the drafter cannot be written: {error.strerror or error}",
            where=str(directory),
            action="free disk space and start again; the run goes on where it was",
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _published(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {
        name: tensor.to("cpu", torch.bfloat16 if tensor.is_floating_point() else None)
        .clone()
        .contiguous()
        for name, tensor in tensors.items()
    }
