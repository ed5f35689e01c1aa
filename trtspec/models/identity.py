"""Which content a checkpoint has, without hashing what was hashed before."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Literal, overload

from trtspec.files import cache_dir, sha256_file, write_atomic
from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_files import Loader
from trtspec.models.files import checkpoint_files

_CACHE_NAME = "hashes.json"
_QUICK_BYTES = 1 << 30
_SETTLED_NS = 2_000_000_000
"""A file changed this recently may change again without a new time stamp, so its hash
is not kept (git does the same with its index)."""

_Identity = tuple[int, int, int]
_Known = dict[str, tuple[_Identity, str]]


@overload
def file_hashes(
    directory: Path,
    kind: DrafterKind = "model",
    loader: Loader = "tensorrt_llm",
    *,
    cached_only: Literal[False] = False,
) -> dict[str, str]: ...
@overload
def file_hashes(
    directory: Path,
    kind: DrafterKind = "model",
    loader: Loader = "tensorrt_llm",
    *,
    cached_only: bool,
) -> dict[str, str] | None: ...
def file_hashes(
    directory: Path,
    kind: DrafterKind = "model",
    loader: Loader = "tensorrt_llm",
    *,
    cached_only: bool = False,
) -> dict[str, str] | None:
    """Hash the files that decide what a checkpoint does.

    Hashes are kept in ``cache_dir()`` and hold while a file's path, size, change time
    and inode stay the same; a link counts as the file it leads to.

    :param kind: what the checkpoint is: a model, or a drafter of a method.
    :param loader: who loads it, if it is a drafter.
    :param cached_only: give None instead of reading more than 1 GiB.
    :returns: file name → SHA-256 as 64 hexadecimal digits.
    """
    files = checkpoint_files(directory, kind, loader)
    known = _load()
    hashes = {path: digest for path in files if (digest := _recall(known, path))}
    unknown = [path for path in files if path not in hashes]
    if cached_only and sum(path.stat().st_size for path in unknown) > _QUICK_BYTES:
        return None
    settled: _Known = {}
    for path in unknown:
        before, started = _identity(path), time.time_ns()
        hashes[path] = sha256_file(path)
        if before == _identity(path) and before[1] + _SETTLED_NS < started:
            settled[os.path.realpath(path)] = (before, hashes[path])
    if settled:
        _save(known | settled)
    return {path.name: hashes[path] for path in files}


def _identity(path: Path) -> _Identity:
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _recall(known: _Known, path: Path) -> str | None:
    identity, digest = known.get(os.path.realpath(path), (None, None))
    return digest if identity == _identity(path) else None


def _load() -> _Known:
    """Read the cache; whatever is wrong with it, it is then empty."""
    try:
        content = json.loads((cache_dir() / _CACHE_NAME).read_text(encoding="utf-8"))
        return {
            str(path): ((int(size), int(changed), int(inode)), str(digest))
            for path, ((size, changed, inode), digest) in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _save(known: _Known) -> None:
    """Write the cache without files that are gone; where it cannot, do without it."""
    kept = {path: entry for path, entry in known.items() if os.path.exists(path)}
    with contextlib.suppress(OSError):
        cache_dir().mkdir(parents=True, exist_ok=True)
        write_atomic(cache_dir() / _CACHE_NAME, json.dumps(kept))
