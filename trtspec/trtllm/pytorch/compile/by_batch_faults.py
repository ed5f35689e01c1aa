"""What is wrong with keys that change the draft length by the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trtspec.errors import Problem
from trtspec.trtllm.facts.families import Family
from trtspec.trtllm.pytorch.compile.driven import Drafting
from trtspec.trtllm.pytorch.compile.known import TYPE
from trtspec.trtllm.pytorch.compile.length_warnings import SCHEDULE
from trtspec.trtllm.pytorch.compile.lengths import CUT_OFF, HEADS, LENGTH


def by_batch_faults(held: Mapping[str, Any], drafting: Drafting) -> Iterator[Problem]:
    """List the faults of ``draft_len_schedule`` and ``max_concurrency``.

    None for AUTO: it has neither key, so that both are unknown ones there.
    """
    cut_off, bounds = held.get(CUT_OFF), held.get(SCHEDULE)
    family = drafting.family
    if drafting.method == "auto":
        return
    early = family in ("1.1", "1.2")
    if cut_off is not None and early and not drafting.follows_max_concurrency:
        yield Problem("has no effect: a one-model engine drafts always", CUT_OFF)
    if bounds is None or family in ("1.0", "1.1"):
        return
    if cut_off is not None and family == "main":
        yield Problem(f"stands beside {CUT_OFF}", SCHEDULE, "one of the two")
    if not drafting.follows_schedule:
        yield Problem(f"has no effect with {held.get(TYPE)}", SCHEDULE)
    if isinstance(bounds, Mapping) and all(map(is_int, (*bounds, *bounds.values()))):
        yield from _entries(bounds, held, family)


def _for_key(bounds: Mapping[int, int], family: Family) -> str:
    """Say what was probably meant by the smallest key, which is below 1."""
    wrong = min(bounds)
    if family == "1.2" and 1 not in bounds:
        return f"write 1: {bounds[wrong]}, for the smallest batches"
    return f"delete the entry {wrong}: {bounds[wrong]}"


def is_int(value: object) -> bool:
    """Whether a value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _entries(
    bounds: Mapping[int, int], held: Mapping[str, Any], family: Family
) -> Iterator[Problem]:
    if not bounds:
        yield Problem("is empty", SCHEDULE, "running requests: tokens")
        return
    if min(bounds) < 1:
        what = f"has the key {min(bounds)}, and a key is a number of running requests"
        yield Problem(what, SCHEDULE, "keys from 1 on", _for_key(bounds, family))
    if min(bounds.values()) < 0:  # 0 is "off" in every family that has a schedule
        yield Problem(f"value {min(bounds.values())} is below 0", SCHEDULE, "0 up")
    longest = held.get(LENGTH, held.get(HEADS))
    first = bounds[min(bounds)]
    if family == "1.2" and 1 not in bounds:
        what = "has no key 1: in 1.2 a key is the smallest batch of its range"
        yield Problem(what, SCHEDULE, f"1: {longest}, and more")
    elif is_int(longest) and first != longest:
        what = f"begins with {first}, and {LENGTH} is {longest}"
        yield Problem(what, SCHEDULE, f"first {longest}, the longest draft")
    if isinstance(longest, int) and max(bounds.values()) > longest:
        what = f"value {max(bounds.values())} is above {LENGTH} {longest}"
        yield Problem(what, SCHEDULE, f"up to {longest}")
