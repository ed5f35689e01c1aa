"""Whether the files of a folder are still those that were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from trtspec.errors import TrtspecError
from trtspec.files import sha256_file
from trtspec.methods.base import DrafterKind
from trtspec.models.identity import file_hashes


def tree_hashes(folder: Path) -> dict[str, str]:
    """Hash every file below a folder; gives sha256 by path inside the folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return hashes_of(folder, [path.relative_to(folder).as_posix() for path in files])


def hashes_of(
    folder: Path, names: Iterable[str], kind: DrafterKind = "model"
) -> dict[str, str]:
    """Hash the named files that exist; weights that did not change are not read.

    :param kind: what the checkpoints are, if the files belong to such.
    """
    known: dict[Path, dict[str, str]] = {}
    found: dict[str, str] = {}
    for name in names:
        path = folder / name
        if not path.is_file():
            continue
        if path.parent not in known:
            known[path.parent] = checkpoint_hashes(path.parent, kind)
        found[name] = known[path.parent].get(path.name) or sha256_file(path)
    return found


def checkpoint_hashes(folder: Path, kind: DrafterKind = "model") -> dict[str, str]:
    """Take a checkpoint's hashes from the cache, as far as it can be read as one.

    :param kind: what the checkpoint is.
    """
    try:
        return file_hashes(folder, kind)
    except (OSError, TrtspecError):
        return {}


def differing_files(
    folder: Path, recorded: Mapping[str, str], kind: DrafterKind = "model"
) -> list[str]:
    """Name recorded files that are missing or changed, each with which of the two.

    :param kind: what the checkpoints are, if the files belong to such.
    """
    found = hashes_of(folder, recorded, kind)
    return [
        f"{name} {'was changed' if name in found else 'is missing'}"
        for name, digest in sorted(recorded.items())
        if found.get(name) != digest
    ]


def missing_files(folder: Path, recorded: Iterable[str]) -> list[str]:
    """Name recorded files that are not there; their content is not looked at."""
    return sorted(name for name in recorded if not (folder / name).is_file())
