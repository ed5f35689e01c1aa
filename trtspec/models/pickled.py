"""Which pickled files hold a checkpoint's weights; none of them is ever opened.

Unpickling runs code that the file chooses. All that is known here comes from names,
sizes and the JSON index.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.info import DTYPE_BYTES
from trtspec.models.json_file import read_json_object
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.weights import require_shards, weight_map

PICKLED = "pytorch_model.bin"
PICKLED_INDEX = "pytorch_model.bin.index.json"

_LONGEST_POINTER = 1024
_LFS_POINTER = b"version https://git-lfs"
_DEFAULT_DTYPE = "float32"  # what transformers takes where the configuration is silent


def pickled_files(directory: Path) -> tuple[str, ...]:
    """Name the pickled weight files (and index); empty if there are none.

    :raises UsageError: if the index is damaged.
    """
    if (directory / PICKLED).is_file():
        return (PICKLED,)
    if (directory / PICKLED_INDEX).is_file():
        shards = set(weight_map(directory / PICKLED_INDEX).values())
        return (PICKLED_INDEX, *sorted(shards))
    return ()


def pickled_names(directory: Path) -> frozenset[str]:
    """Names of the tensors, as far as an index lists them; empty without one."""
    if (directory / PICKLED).is_file() or not (directory / PICKLED_INDEX).is_file():
        return frozenset()
    return frozenset(weight_map(directory / PICKLED_INDEX))


def pickled_tensors(directory: Path) -> dict[str, TensorHeader]:
    """Give the tensors that an index lists, of which only the names are known."""
    return {name: TensorHeader("unknown", (), 0) for name in pickled_names(directory)}


def pickled_bytes(directory: Path) -> int:
    """Bytes of the weights: what the index says, or else what the files take.

    :raises UsageError: if a file is missing, empty, or a pointer of Git LFS.
    """
    names = pickled_files(directory)
    shards = [name for name in names if name != PICKLED_INDEX]
    require_shards(directory, shards)
    taken = sum(stored_bytes(directory / name) for name in shards)
    if PICKLED_INDEX not in names:
        return taken
    metadata = read_json_object(directory / PICKLED_INDEX).get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    return int(total) if isinstance(total, int | float) and total > 0 else taken


def stored_bytes(path: Path) -> int:
    """Size of a weight file that is not opened but for the size of a pointer.

    :raises UsageError: if it is empty or a pointer of Git LFS.
    """
    size = path.stat().st_size
    what, action = "", ""
    if not size:
        what, action = f"{path.name} is empty", "fetch this file again"
    elif size <= _LONGEST_POINTER and path.read_bytes().startswith(_LFS_POINTER):
        what, action = f"{path.name} is a pointer of Git LFS", "run `git lfs pull`"
    if what:
        raise UsageError(what, where=str(path.parent), action=action)
    return size


def configured_dtype(path: Path, config: Mapping[str, Any]) -> str:
    """Read in which type a configuration says that the weights are stored.

    :param path: the configuration's file, for messages.
    :returns: a key of ``DTYPE_BYTES``; float32 if the configuration names none, as
        transformers takes it.
    :raises UsageError: if it names another one.
    """
    text = config.get("text_config")
    whole = {**config, **text} if isinstance(text, dict) else config
    named = whole.get("dtype") or whole.get("torch_dtype") or _DEFAULT_DTYPE
    dtype = str(named).removeprefix("torch.")
    if dtype not in DTYPE_BYTES:
        raise UsageError(
            f"torch_dtype is {named!r}",
            where=str(path),
            allowed=", ".join(DTYPE_BYTES) + " for pickled weights",
            action="convert the checkpoint to safetensors, which say it themselves",
        )
    return dtype
