"""Which safetensors files hold a checkpoint's weights, and whether all are there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.models.json_file import read_json_object
from trtspec.models.safetensors_header import read_header
from trtspec.models.tensor_header import TensorHeader

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
_SHOWN = 3
_PICKLED = ("*.bin", "*.pt", "*.pth")


def read_tensors(directory: Path) -> dict[str, TensorHeader]:
    """Read the headers of all weights, single file or sharded.

    :raises UsageError: if weights are missing, truncated, damaged or in a format that
        could run code when it is loaded.
    """
    if (directory / SINGLE).is_file():
        return read_header(directory / SINGLE)
    if (directory / INDEX).is_file():
        return _read_shards(directory, weight_map(directory / INDEX))
    for name in (SINGLE, INDEX):
        if what := not_a_file(directory / name):
            raise UsageError(what, where=str(directory), action=PUT_THE_FILE)
    raise _no_weights(directory)


PUT_THE_FILE = "put the file there that was published under this name"


def not_a_file(path: Path) -> str:
    """Say what stands where a file should; empty for a file, or if there is nothing."""
    if not os.path.lexists(path) or path.is_file():
        return ""
    if path.is_dir():
        return f"{path.name} is a directory, not a file"
    if path.is_symlink() and not path.exists():
        return f"{path.name} is a link to {path.readlink()}, which leads to no file"
    return f"{path.name} is a pipe, device or socket, not a file"


def weight_files(directory: Path) -> tuple[str, ...]:
    """Name the safetensors files (and index) that are read; empty if there are none.

    :raises UsageError: if the index is damaged.
    """
    if (directory / SINGLE).is_file():
        return (SINGLE,)
    if (directory / INDEX).is_file():
        return (INDEX, *sorted(set(weight_map(directory / INDEX).values())))
    return ()


def weight_map(index: Path) -> dict[str, str]:
    """Read which file of a sharded checkpoint holds which tensor.

    :raises UsageError: if the index is damaged, or names a file elsewhere.
    """
    weights = read_json_object(index).get("weight_map")
    if not isinstance(weights, dict) or not weights:
        raise UsageError(
            "has no weight_map", where=str(index), action="fetch this file again"
        )
    named = {shard for shard in weights.values() if isinstance(shard, str)}
    elsewhere = {shard for shard in named if Path(shard).name != shard}
    for name, shard in weights.items():
        if not isinstance(shard, str) or shard in elsewhere:
            raise UsageError(
                f"places tensor {name} in {shard!r}",
                where=str(index),
                allowed="the name of a file in the same directory",
            )
    return weights


def require_shards(directory: Path, shards: Sequence[str]) -> None:
    """Refuse a sharded checkpoint that lacks a file.

    :raises UsageError: naming the first file that is missing.
    """
    absent = [shard for shard in shards if not (directory / shard).is_file()]
    if absent:
        raise UsageError(
            f"{len(absent)} of {len(shards)} weight files are missing, "
            f"first {absent[0]}",
            where=str(directory),
            allowed="all files that the index names",
            action=fetch_missing(absent),
        )


def fetch_missing(absent: Sequence[str]) -> str:
    """Say what to do about files that are not there, the first few by name."""
    more = f" and {len(absent) - _SHOWN} more" if len(absent) > _SHOWN else ""
    named = f"{', '.join(absent[:_SHOWN])}{more}"
    return f"fetch the missing files from the same revision: {named}"


def _read_shards(directory: Path, weights: dict[str, str]) -> dict[str, TensorHeader]:
    shards = sorted(set(weights.values()))
    require_shards(directory, shards)
    headers = {shard: read_header(directory / shard) for shard in shards}
    lost = [name for name, shard in weights.items() if name not in headers[shard]]
    if lost:
        raise UsageError(
            f"{weights[lost[0]]} lacks {len(lost)} tensor(s) that {INDEX} places "
            f"there, first {lost[0]}",
            where=str(directory),
            action="fetch the weight files and the index again, from one revision",
        )
    return {name: headers[shard][name] for name, shard in weights.items()}


def _no_weights(directory: Path) -> UsageError:
    pickled = sorted(path.name for kind in _PICKLED for path in directory.glob(kind))
    if pickled:
        return UsageError(
            f"holds its weights as {pickled[0]}, a format that can run code when it "
            "is loaded",
            where=str(directory),
            allowed=f"{SINGLE}, sharded safetensors, or one .gguf file; backend "
            "tensorrt also takes pytorch_model.bin, single or sharded",
            action="convert it: load it with transformers where you trust it, then "
            "save_pretrained(DIRECTORY)",
        )
    found_here = directory.glob("*.safetensors")
    others = sorted(path.name for path in found_here if path.is_file())
    found = f"only {', '.join(others[:3])}" if others else "no weights"
    return UsageError(
        f"holds {found}",
        where=str(directory),
        allowed=f"{SINGLE}, shards with {INDEX}, or one .gguf file; backend tensorrt "
        "also takes pytorch_model.bin, single or sharded",
        action="give the directory of a complete checkpoint",
    )
