"""How TensorRT-LLM's modules come into this process, and what to say if they do not."""

from __future__ import annotations

import importlib
from typing import Any

from trtspec.errors import BackendUnavailableError

FAILURES = (Exception, SystemExit)
"""What code of others can raise that is no interrupt of ours."""
_CLEAR_TEXTS = (ImportError, OSError, RuntimeError, ValueError, SyntaxError)


def imported(name: str) -> Any:
    """Import a module of TensorRT-LLM.

    :raises BackendUnavailableError: whatever the import fails with.
    """
    try:
        return importlib.import_module(name)
    except FAILURES as error:
        raise BackendUnavailableError(
            f"cannot be imported: {in_words(error)}",
            where=name,
            action="what it printed above may say more; trtspec doctor says what is "
            "missing",
        ) from error


def in_words(error: BaseException) -> str:
    """Say what an error of TensorRT-LLM's is, with its class where the text is bare."""
    if isinstance(error, SystemExit):
        return f"it asked for the end of the process ({error.code})"
    name, text = type(error).__name__, str(error)
    if not text:
        return name
    return text if isinstance(error, _CLEAR_TEXTS) else f"{name}: {text}"
