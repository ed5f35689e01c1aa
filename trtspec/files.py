"""How files are written and hashed so that nothing is ever half there."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

_CHUNK = 1 << 20


def cache_dir() -> Path:
    """Where downloads and hashes are kept between runs.

    ``$TRTSPEC_CACHE``, else ``$XDG_CACHE_HOME/trtspec``, else ``~/.cache/trtspec``.
    """
    if own := os.environ.get("TRTSPEC_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "trtspec"
    return Path.home() / ".cache" / "trtspec"


def sha256_file(path: Path) -> str:
    """Hash a file's content; returns 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_CHUNK):
            digest.update(block)
    return digest.hexdigest()


def canonical_json(value: object) -> str:
    """Give one text per value, whatever the order of its keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256_json(value: object) -> str:
    """Hash a JSON value; returns 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def write_atomic(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part.

    :raises OSError: as the file system reports it; nothing is left behind.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
