"""What a map of draft lengths reads like in each family of releases.

A recipe's map means "up to this many running requests". So does the newest releases'
``draft_len_schedule``; that of 1.2 means "from this many on" (pull request 10860).
Everything here is pure.
"""

from __future__ import annotations

from collections.abc import Mapping

DraftLength = int | Mapping[int, int]


def reachable(length: DraftLength, largest_batch: int) -> DraftLength:
    """Leave out what no batch can reach, and steps that change nothing.

    The last entry that is left keeps its key, even above the largest batch. What is
    the same for every batch becomes one number. The meaning for each batch size from 1
    to ``largest_batch`` stays.

    :param length: one number, or a recipe's map.
    :param largest_batch: requests that run at once.
    """
    if isinstance(length, int):
        return length
    kept = _merged(_up_to(length, largest_batch))
    last, value = list(kept.items())[-1]
    return value if len(kept) == 1 and last >= largest_batch else kept


def _up_to(length: Mapping[int, int], largest_batch: int) -> dict[int, int]:
    kept: dict[int, int] = {}
    for key in sorted(length):
        kept[key] = length[key]
        if key >= largest_batch:
            break
    return kept


def _merged(length: Mapping[int, int]) -> dict[int, int]:
    keys = list(length)
    followed = zip(keys, [*keys[1:], None], strict=True)
    return {
        key: length[key]
        for key, after in followed
        if after is None or length[after] != length[key]
    }


def longest(length: DraftLength) -> int:
    """Give the largest draft length of one number or a map."""
    return length if isinstance(length, int) else max(length.values())


def starts_longest(length: Mapping[int, int]) -> bool:
    """Whether the smallest batches draft most, as both readings demand.

    TensorRT-LLM wants the first value to equal ``max_draft_len``, and none above it.
    """
    return length[min(length)] == max(length.values())


def reaches_zero(length: DraftLength, largest_batch: int) -> bool:
    """Whether some batch drafts nothing."""
    return bool(pauses(length, largest_batch))


def pauses(length: DraftLength, largest_batch: int) -> tuple[range, ...]:
    """Give the running requests for which nothing is drafted, up to the largest batch.

    :param length: one number, or a map by the most requests; 0 drafts nothing.
    """
    if isinstance(length, int):
        return ()
    found: list[range] = []
    start = 1
    for key, value in [*sorted(length.items()), (largest_batch, 0)]:
        end = min(key, largest_batch)
        if value == 0 and start <= end:
            joined = bool(found) and found[-1].stop == start
            first = found.pop().start if joined else start
            found.append(range(first, end + 1))
        start = max(start, key + 1)
    return tuple(found)


def to_lower_bounds(length: Mapping[int, int], largest_batch: int) -> dict[int, int]:
    """Write a recipe's map as 1.2 reads it: keys are the smallest batch of a range.

    {8: 4, 32: 2} becomes {1: 4, 9: 2, 33: 0}; without the 33 if no batch gets there.
    """
    bounds: dict[int, int] = {}
    start = 1
    for key in sorted(length):
        bounds[start] = length[key]
        start = key + 1
    if start <= largest_batch:
        bounds[start] = 0
    return bounds


def from_lower_bounds(
    bounds: Mapping[int, int], largest_batch: int
) -> DraftLength | None:
    """Read a schedule of 1.2 as a map by the most requests.

    A recipe can say it but for a 0, which is left where more is drafted above it.

    :returns: None if nothing is drafted at all.
    """
    starts = sorted(bounds)
    ends = [*(start - 1 for start in starts[1:]), max(largest_batch, starts[-1])]
    return _without_tail(
        {end: bounds[start] for start, end in zip(starts, ends, strict=True)},
        largest_batch,
    )


def from_upper_bounds(
    bounds: Mapping[int, int], largest_batch: int
) -> DraftLength | None:
    """Read a schedule of the newest releases in the same way; None as above."""
    return _without_tail({key: bounds[key] for key in sorted(bounds)}, largest_batch)


def _without_tail(length: dict[int, int], largest_batch: int) -> DraftLength | None:
    within = _up_to(length, largest_batch)
    while within and list(within.values())[-1] == 0:
        del within[max(within)]
    if not within:
        return None
    return reachable(within, largest_batch)
