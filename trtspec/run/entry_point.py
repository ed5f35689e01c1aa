"""How a user's own object, named as module:attribute, comes into this process."""

from __future__ import annotations

import importlib
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError

FAILURES = (Exception, SystemExit)
"""What code of others can raise that is no interrupt of ours."""


def entry_point(name: str, key: str) -> Any:
    """Import what a recipe names as module:attribute, and call it.

    The module is looked for in the working directory too.

    :param key: the recipe's key, for messages.
    :raises UsageError: if it cannot be imported, is none, or fails.
    """
    module, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        with redirect_stdout(sys.stderr):  # stdout is for our own output
            return getattr(importlib.import_module(module), attribute)()
    except FAILURES as error:  # the user's own code can raise anything
        raise UsageError(
            f"{name} cannot be had: {type(error).__name__}: {error}",
            where=key,
            allowed="module:attribute; called without arguments it gives the object",
            action="see that the module can be imported from this directory or from "
            "PYTHONPATH, and that the call needs no arguments",
        ) from error
