"""Which tensors are in the weight files of a drafter, by their headers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.models.safetensors_header import read_header
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.weights import INDEX, read_tensors


def drafter_tensors(directory: Path, files: Sequence[str]) -> dict[str, TensorHeader]:
    """Read the headers of safetensors, single file or sharded.

    :param files: as ``drafter_weight_files`` names them.
    :raises UsageError: if a file is missing, truncated or damaged.
    """
    if files[0] == INDEX:
        return read_tensors(directory)
    return read_header(directory / files[0])
