"""How the tensors of a pickled file are read without running any code of it."""

from __future__ import annotations

import re
from pathlib import Path

import torch
from torch import Tensor

_CAUSE = re.compile(r"(Unsupported|Trying to load) .*")
"""Where torch says what it refused, behind advice that is not ours to give."""


def read_pickled(path: Path, dtype: torch.dtype) -> dict[str, Tensor]:
    """Read tensors by name; floating ones come in ``dtype``, others as they are.

    :raises ValueError: if the file holds anything but plain tensors by name.
    """
    # tensors may share memory, as the layers of a Medusa head do
    return {
        name: (tensor.to(dtype) if tensor.is_floating_point() else tensor)
        .clone()
        .contiguous()
        for name, tensor in _stored(path).items()
    }


def _stored(path: Path) -> dict[str, Tensor]:
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
    except OSError:
        raise
    except Exception as error:  # what a damaged file makes of torch's unpickler
        raise ValueError(
            f"{path.name} is damaged, or holds more than weights, which could run "
            f"code: it is not loaded ({_cause(error)})"
        ) from error
    if not isinstance(stored, dict):
        raise ValueError(
            f"{path.name} holds one {type(stored).__name__}, not tensors by name"
        )
    for name, value in stored.items():
        if not isinstance(name, str) or not isinstance(value, Tensor):
            raise ValueError(
                f"{path.name} does not hold tensors by name: {name!r} is a "
                f"{type(value).__name__}"
            )
        if unlike := _unlike_plain(value):
            raise ValueError(f"{path.name} holds the {unlike} tensor {name!r}")
    return stored


def _cause(error: Exception) -> str:
    """Give the first sentence of what went wrong."""
    found = _CAUSE.search(str(error))
    text = found[0] if found else f"{type(error).__name__}: {error}".strip()
    return text.partition("\n")[0].partition(". ")[0].rstrip(".")


def _unlike_plain(tensor: Tensor) -> str:
    """Say what keeps a tensor from being stored as safetensors; empty if nothing."""
    kinds = {
        "quantized": tensor.is_quantized,
        "sparse": tensor.layout is not torch.strided,
        "empty": tensor.is_meta,
        "complex": tensor.is_complex(),
    }
    return next((kind for kind, found in kinds.items() if found), "")
