"""Which loads take an engine through every rung of its draft-length schedule."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.methods import Method

FIRST = 1


def levels_of(method: Method, most: int) -> tuple[int, ...]:
    """Give numbers of requests in flight, ascending: one or two per rung.

    Each rung is entered at its first number and filled to its last, so that both sides
    of every threshold are seen. A single draft length gives 1, half and all.

    :param most: requests that run at once.
    """
    draft_length = getattr(method, "draft_length", 0)
    found = {FIRST, most}
    if isinstance(draft_length, Mapping):
        for limit in draft_length:
            found |= {limit, limit + 1}
    else:
        found.add(max(FIRST, most // 2))
    return tuple(sorted(level for level in found if level <= most))
