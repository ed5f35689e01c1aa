"""Drafters of the reference engine: the module ``<method>`` drafts for that method.

It has ``open_drafter(method, directory, setup)``, and is imported when the method is
used. The modules without a method's name are what several of them are built upon.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import torch

from trtspec.errors import RunError, TrtspecError
from trtspec.methods import Method, NoSpeculation
from trtspec.reference.drafters.base import (
    BaseDrafter,
    DraftContext,
    Drafter,
    Observation,
)
from trtspec.reference.drafters.setup import DrafterSetup

__all__ = [
    "BaseDrafter",
    "DraftContext",
    "Drafter",
    "DrafterSetup",
    "Observation",
    "open_drafter",
]


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> Drafter | None:
    """Open what drafts for a method; None for plain decoding.

    :param directory: the artifact's drafter; None if the method has none of its own.
    :raises RunError: if the drafter's checkpoint cannot be loaded.
    """
    if isinstance(method, NoSpeculation):
        return None
    module = import_module(f"{__name__}.{method.method}")
    try:
        drafter: Drafter = module.open_drafter(method, directory, setup)
    except (TrtspecError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # anything may come out of a checkpoint
        raise RunError(
            f"the drafter cannot be opened: {type(error).__name__}: {error}",
            where=str(directory or setup.target_directory),
            action="see that its config.json is the one that it was published with; "
            "--debug shows where it failed",
        ) from error
    threshold = getattr(method, "suffix_threshold", None)
    if threshold is None:
        return drafter
    from trtspec.reference.drafters.suffix_override import SuffixOverride

    return SuffixOverride(drafter, threshold)
