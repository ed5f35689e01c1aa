"""What a file's ``draft_len_schedule`` means, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trtspec.trtllm.migrate.config import EARLY, Config
from trtspec.trtllm.pytorch.compile.by_batch_faults import is_int
from trtspec.trtllm.pytorch.compile.schedule import (
    DraftLength,
    from_lower_bounds,
    from_upper_bounds,
)


def read_schedule(config: Config, given: Mapping[int, int]) -> DraftLength | None:
    """Read a schedule as its family means it; None if it drafts nothing at all."""
    reading = from_lower_bounds if config.source in EARLY else from_upper_bounds
    return reading(given, config.largest_batch)


def schedule_fault(config: Config, given: Any) -> str:
    """Say why every family refuses a schedule; empty if none does."""
    return no_schedule(given) or _misread(config, given)


def no_schedule(given: Any) -> str:
    """Say why a value is no schedule in any family; empty if it is one."""
    if not isinstance(given, Mapping) or not given:
        return "a map of batch size to draft length is wanted, such as {8: 4, 32: 2}"
    for key, value in given.items():
        if fault := _key_fault(key) or _value_fault(key, value):
            return fault
    return ""


def _key_fault(key: object) -> str:
    if not is_int(key):
        return f"the key {key!r} is no batch size, which is a whole number from 1 on"
    assert isinstance(key, int), "is_int looked"
    if key < 1:
        return f"the key {key} is no batch size: they begin at 1, for a single request"
    return ""


def _value_fault(key: object, value: object) -> str:
    if not is_int(value):
        return (
            f"{key}: {value!r} is no draft length, which is a whole number; 0 drafts "
            "nothing"
        )
    assert isinstance(value, int), "is_int looked"
    return f"{key}: {value} is below 0, which drafts nothing" if value < 0 else ""


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
        return "nothing is drafted for any batch: delete speculative_config instead"
    return ""
