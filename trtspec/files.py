"""How files are written and hashed so that nothing is ever half there."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from errno import EEXIST
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
    # names of files may hold bytes that are not UTF-8: lone surrogates
    data = canonical_json(value).encode(errors="surrogatepass")
    return hashlib.sha256(data).hexdigest()


def write_atomic(path: Path, text: str) -> None:
    """Write a text file so that a reader sees the old or the new one, never a part.

    Of a symbolic link the file that it leads to is replaced, and the link stays.

    :raises FileExistsError: if a directory, a pipe or a device has the name.
    :raises OSError: as the file system reports it, naming ``path``; nothing is left
        behind.
    """
    place = Path(os.path.realpath(path))
    _refuse_what_is_no_file(place, path)
    temporary = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        # names of files may hold bytes that are not UTF-8
        with temporary.open("w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(place)
    except OSError as error:
        _remove(temporary)
        raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        _remove(temporary)
        raise


def _refuse_what_is_no_file(place: Path, named: Path) -> None:
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(named)) from error
    if not stat.S_ISREG(mode):
        raise FileExistsError(EEXIST, f"it is {_kind(mode)}, not a file", str(named))


def _kind(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a directory"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device or socket"


def _remove(temporary: Path) -> None:
    with suppress(OSError):  # it may never have been made; what failed is told instead
        temporary.unlink()
