"""Which safetensors a directory holds, and what of them is missing or damaged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from trtspec.errors import Problem
from trtspec.models.safetensors_header import read_header
from trtspec.models.stored_record import StoredFiles, attempt
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.weights import INDEX, SINGLE, fetch_missing, weight_map

_NUMBERED = re.compile(r"(.+)-(\d+)-of-(\d+)\.safetensors")


def safetensors_files(directory: Path) -> tuple[str, ...]:
    """Name the safetensors files: the one that is loaded, or else all."""
    if (directory / SINGLE).is_file():
        return (SINGLE,)
    found = directory.glob("*.safetensors")
    return tuple(sorted(path.name for path in found if path.is_file()))


def sharded(directory: Path) -> StoredFiles:
    """Read what an index asks for."""
    problems: list[Problem] = []
    weights = attempt(lambda: weight_map(directory / INDEX), problems)
    if weights is None:
        read = unsharded(directory, safetensors_files(directory))
        return StoredFiles(
            "safetensors",
            read.files,
            read.tensors,
            missing_files=read.missing_files,
            nbytes=read.nbytes,
            problems=(*problems, *read.problems),
        )
    wanted = sorted(set(weights.values()))
    there = [name for name in wanted if (directory / name).is_file()]
    headers = _headers(directory, there, problems)
    absent = sorted(set(wanted) - set(there))
    lost = [n for n, file in weights.items() if n not in headers.get(file, {n: 0})]
    tensors = {n: t for header in headers.values() for n, t in header.items()}
    unlisted = sorted(tensors.keys() - weights.keys())
    if absent:
        problems.append(_absent(directory, absent, len(wanted)))
    if lost:
        problems.append(_lost(directory, weights, sorted(lost)))
    return StoredFiles(
        "safetensors",
        tuple(there),
        tensors,
        missing_files=tuple(absent),
        missing_tensors=tuple(
            sorted({n for n, file in weights.items() if file in absent} | set(lost))
        ),
        unlisted_tensors=tuple(unlisted),
        nbytes=total_bytes(tensors.values()),
        has_index=True,
        problems=tuple(problems),
    )


def unsharded(directory: Path, files: Sequence[str]) -> StoredFiles:
    """Read files without an index; the numbers in their names tell what is missing."""
    problems: list[Problem] = []
    headers = _headers(directory, files, problems)
    absent = _numbers_left_out(files)
    if absent:
        whole = len(files) + len(absent)
        problems.append(_absent(directory, absent, whole))
    elif len(files) > 1 and any(map(_NUMBERED.fullmatch, files)):
        what = f"holds {len(files)} shards and no {INDEX}"
        action = "fetch the index, without which nothing loads the shards"
        problems.append(Problem(what, where=str(directory), action=action))
    tensors = {n: t for header in headers.values() for n, t in header.items()}
    return StoredFiles(
        "safetensors",
        tuple(files),
        tensors,
        missing_files=tuple(absent),
        nbytes=total_bytes(tensors.values()),
        problems=tuple(problems),
    )


def _headers(
    directory: Path, files: Iterable[str], problems: list[Problem]
) -> dict[str, dict[str, TensorHeader]]:
    """Read the headers of files; one that cannot be read becomes a problem."""
    found = {}
    for name in files:
        header = attempt(lambda path=directory / name: read_header(path), problems)  # type: ignore[misc]
        if header is not None:
            found[name] = header
    return found


def _numbers_left_out(files: Sequence[str]) -> list[str]:
    """Name the shards that the numbers of the others tell of."""
    absent: set[str] = set()
    for name in files:
        if found := _NUMBERED.fullmatch(name):
            stem, number, count = found.groups()
            every = range(1, min(int(count), 10_000) + 1)
            width = len(number)
            names = {f"{stem}-{n:0{width}}-of-{count}.safetensors" for n in every}
            absent |= names - set(files)
    return sorted(absent)


def _absent(directory: Path, absent: Sequence[str], count: int) -> Problem:
    shown = ", ".join(absent[:3]) + (", ..." if len(absent) > 3 else "")
    return Problem(
        f"{len(absent)} of {count} weight files are missing: {shown}",
        where=str(directory),
        allowed="every file of the checkpoint",
        action=fetch_missing(absent),
    )


def _lost(directory: Path, weights: Mapping[str, str], lost: Sequence[str]) -> Problem:
    return Problem(
        f"{weights[lost[0]]} lacks {len(lost)} tensor(s) that {INDEX} places there, "
        f"first {lost[0]}",
        where=str(directory),
        action="fetch the weight files and the index again, from one revision",
    )


def total_bytes(tensors: Iterable[TensorHeader]) -> int:
    """Sum up what tensors take."""
    return sum(tensor.nbytes for tensor in tensors)
