"""Which weights a directory holds, and what of them is missing or damaged.

Unlike ``weights``, which refuses what is not whole, this reads on: each file that
cannot be read becomes a problem, and the others are still told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from trtspec.errors import Problem
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import find_gguf
from trtspec.models.pickled import pickled_bytes, pickled_files, pickled_names
from trtspec.models.stored_record import StoredFiles, attempt
from trtspec.models.stored_safetensors import (
    safetensors_files,
    sharded,
    total_bytes,
    unsharded,
)
from trtspec.models.weights import INDEX, PUT_THE_FILE, SINGLE, not_a_file

_PICKLED = ("*.bin", "*.pt", "*.pth")


def stored_files(directory: Path) -> StoredFiles:
    """Read the headers of all weights; never raises for what is wrong with them."""
    if not (directory / SINGLE).is_file() and (directory / INDEX).is_file():
        return sharded(directory)
    if named := safetensors_files(directory):
        return unsharded(directory, named)
    problems: list[Problem] = []
    if gguf := attempt(lambda: find_gguf(directory), problems):
        return _gguf(gguf)
    if problems:
        return StoredFiles("gguf", problems=tuple(problems))
    found = _pickled(directory)
    if found.format is None:
        return replace(found, problems=(*found.problems, *_in_the_way(directory)))
    return found


def _in_the_way(directory: Path) -> Iterator[Problem]:
    """Say what stands where weights should, where there are none at all."""
    for name in (SINGLE, INDEX):
        if what := not_a_file(directory / name):
            yield Problem(what, where=str(directory), action=PUT_THE_FILE)


def _gguf(path: Path) -> StoredFiles:
    problems: list[Problem] = []
    header = attempt(lambda: read_gguf(path), problems)
    tensors = {} if header is None else dict(header.tensors)
    return StoredFiles(
        "gguf",
        (path.name,),
        tensors,
        nbytes=total_bytes(tensors.values()),
        problems=tuple(problems),
    )


def _pickled(directory: Path) -> StoredFiles:
    problems: list[Problem] = []
    names = attempt(lambda: pickled_files(directory), problems) or ()
    named = frozenset(attempt(lambda: pickled_names(directory), problems) or ())
    there = [n for n in names if (directory / n).is_file() and not n.endswith(".json")]
    if not names:
        found = {p.name for kind in _PICKLED for p in directory.glob(kind)}
        there = sorted(found - {"training_args.bin", "optimizer.bin"})
    if not there and not names:
        return StoredFiles(None, problems=tuple(problems))
    taken = attempt(lambda: pickled_bytes(directory), problems) if names else None
    if taken is None:
        taken = sum((directory / name).stat().st_size for name in there)
    wanted = [name for name in names if not name.endswith(".json")]
    return StoredFiles(
        "torch",
        tuple(there),
        names=named,
        missing_files=tuple(sorted(set(wanted) - set(there))),
        nbytes=taken,
        problems=tuple(problems),
    )
