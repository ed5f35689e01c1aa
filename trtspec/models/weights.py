"""Which safetensors files hold a checkpoint's weights, and whether all are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.models.json_file import read_json_object
from trtspec.models.safetensors_header import read_header
from trtspec.models.tensor_header import TensorHeader

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
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
    raise _no_weights(directory)


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
            action="fetch the missing files",
        )


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
    others = sorted(path.name for path in directory.glob("*.safetensors"))
    found = f"only {', '.join(others[:3])}" if others else "no weights"
    return UsageError(
        f"holds {found}",
        where=str(directory),
        allowed=f"{SINGLE}, shards with {INDEX}, or one .gguf file; backend tensorrt "
        "also takes pytorch_model.bin, single or sharded",
        action="give the directory of a complete checkpoint",
    )
