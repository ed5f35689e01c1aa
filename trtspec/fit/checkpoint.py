"""Where a training run is kept, so that it goes on exactly where it was."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import torch

from trtspec.errors import RunError, UsageError

_NAME = "training.pt"


def save(directory: Path, content: dict[str, Any]) -> None:
    """Store a run; an interrupt leaves the old one or the new one.

    :raises RunError: if the disk is full; the old one is left then.
    """
    directory.mkdir(parents=True, exist_ok=True)
    temporary = directory / f".{_NAME}.{os.getpid()}.tmp"
    try:
        torch.save(content, temporary)
        temporary.replace(directory / _NAME)
    except (OSError, RuntimeError) as error:
        raise RunError(
            f"the training run cannot be stored: {error}",
            where=str(directory),
            action="free disk space and start again; it goes on from what was stored "
            "before",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def load(directory: Path, settings: dict[str, Any]) -> dict[str, Any] | None:
    """Give the stored run, or None if there is none.

    :param settings: of this run; those of the stored one must be the same.
    :raises UsageError: if they are not, or the file is damaged.
    """
    path = directory / _NAME
    if not path.exists():
        return None
    try:
        content: dict[str, Any] = torch.load(path, weights_only=True)
        stored = content["settings"]
    except Exception as error:  # torch raises many kinds for a damaged file
        raise UsageError(
            f"the stored training run is damaged: {error}",
            where=str(path),
            action="delete it; training then begins anew",
        ) from error
    differing = [key for key in stored if stored[key] != settings.get(key)]
    if differing:
        key = differing[0]
        raise UsageError(
            f"the stored training run has {key} {stored[key]}, not {settings.get(key)}",
            where=str(path),
            allowed="the same settings; only steps and the answers may grow",
            action="give another --work folder to begin another run",
        )
    return content
