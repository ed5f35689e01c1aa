"""What text a file to be migrated holds, if it is of a size that one has."""

from __future__ import annotations

from pathlib import Path

from trtspec.errors import Problem, UsageError
from trtspec.recipe.load import MAX_BYTES
from trtspec.recipe.text import decode, open_file, unreadable


def read_text(file: str) -> str:
    """Give the text of a file.

    :param file: its path, as the user wrote it.
    :raises UsageError: if it is no path, or there is no text, or too much to be a
        configuration.
    """
    path = _path(file)
    try:
        with open_file(path) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        problem = unreadable(error, "the file", str(path), "check the path")
        raise UsageError.from_problems([problem]) from None
    if len(data) > MAX_BYTES:
        raise UsageError(
            f"the file has more than {MAX_BYTES >> 20} MiB",
            where=str(path),
            action="give a YAML of the LLM API, or a recipe",
        )
    text = decode(data, str(path))
    if isinstance(text, Problem):
        raise UsageError.from_problems([text])
    return text


def _path(file: str) -> Path:
    if file == "-":
        raise UsageError(
            "stdin is not read: what is told names a file and its lines",
            where="FILE",
            action="give the path of a file (./- for one of that name)",
        )
    if not file:
        raise UsageError("an empty path names no file", where="FILE")
    return Path(file)
