"""How a document that ours wrote is read back."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from trtspec.errors import UsageError

DocumentT = TypeVar("DocumentT", bound=BaseModel)


def read_document(
    kind: type[DocumentT], path: Path, command: str, schema: str
) -> DocumentT:
    """Read a document.

    :param command: that wrote it, such as ``tune``.
    :param schema: the form that is read.
    :raises UsageError: if it is none, with the first thing that is wrong.
    """
    try:
        return kind.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        at = "".join(f"{part}: " for part in [".".join(map(str, first["loc"]))] if part)
        raise UsageError(
            f"no document of trtspec {command}: {at}{first['msg']}",
            where=str(path),
            allowed=schema,
            action=f"{command} again, or read it with the version that wrote it",
        ) from error
