"""What a file's ``draft_len_schedule`` means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trtspec.trtllm.migrate.config import EARLY, Config
from trtspec.trtllm.pytorch.compile.schedule import (
    DraftLength,
    from_lower_bounds,
    from_upper_bounds,
)


def read_schedule(config: Config, given: Mapping[int, int]) -> DraftLength | None:
    """Read a schedule as its family means it; None if it rises after a zero."""
    reading = from_lower_bounds if config.source in EARLY else from_upper_bounds
    return reading(given, config.largest_batch)


def schedule_fault(config: Config, given: Any) -> str:
    """Say why every family refuses a schedule; empty if none does."""
    return no_schedule(given) or _misread(config, given)


def no_schedule(given: Any) -> str:
    """Say why a value is no schedule in any family; empty if it is one."""
    if not isinstance(given, Mapping) or not given:
        return "a map of batch size to draft length is wanted"
    numbers = [*given, *given.values()]
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        return "batch sizes and draft lengths are whole numbers"
    if min(given) < 1 or min(given.values()) < 0:
        return "batch sizes begin at 1, draft lengths at 0"
    return ""


def _misread(config: Config, given: Mapping[int, int]) -> str:
    first, most = given[min(given)], config.draft_length
    if config.source in EARLY and 1 not in given:
        return (
            f"{config.source} wants an entry for batch size 1; without it nothing ran"
        )
    if most is not None and (first != most or max(given.values()) > most):
        return (
            f"the smallest key ({min(given)}) must map to the draft length {most}, and "
            f"no value may be above it; it maps to {first}"
        )
    if read_schedule(config, given) is None:
        why = "nothing is drafted for some batch, and something for a larger one"
        return f"{why}: write one that only falls"
    return ""
