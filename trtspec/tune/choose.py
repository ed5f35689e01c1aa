"""Which draft length for which batch: the best, as long as it is really the best.

At one batch size the throughput and the time per token of a request rise and fall
together, so one choice serves both; a limit on the time per token decides how large a
batch may be, not how long its drafts are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from trtspec.tune.steady import Point, margin

TIE = 0.01
"""A shorter draft is preferred where it loses no more than this, and no more than the
figures can tell; a change between batch sizes has to gain as much."""


def schedule(surface: Mapping[int, Sequence[Point]]) -> dict[int, int]:
    """Choose a draft length for each batch size, never rising with it.

    Of all such choices the one that loses least against the best of each batch size,
    where a change costs ``TIE``: a schedule does not flip for a gain inside the noise.
    To stop drafting costs nothing, and drafting has to gain ``TIE``.

    :param surface: by batch size the same lengths, 0 among them.
    """
    batches = sorted(surface)
    lengths = sorted(point.length for point in surface[batches[0]])
    # by the last length: loss of the batches so far, and their lengths
    best: dict[int, tuple[float, tuple[int, ...]]] = {
        length: (lost, (length,))
        for length, lost in _losses(surface[batches[0]]).items()
    }
    for batch in batches[1:]:
        lost = _losses(surface[batch])
        best = {
            length: min(
                (
                    loss + TIE * (before[-1] != length > 0) + lost[length],
                    (*before, length),
                )
                for loss, before in best.values()
                if before[-1] >= length
            )
            for length in lengths
        }
    _, chosen = min(best.values())
    return dict(zip(batches, chosen, strict=True))


def constant(surface: Mapping[int, Sequence[Point]]) -> dict[int, int]:
    """Choose one length for all batch sizes: the one that loses least over them."""
    losses = [_losses(points) for points in surface.values()]
    best = min(losses[0], key=lambda length: (sum(x[length] for x in losses), length))
    return dict.fromkeys(sorted(surface), best)


def best_of(points: Sequence[Point]) -> Point:
    """Give the point with the highest throughput; of equals the shortest."""
    return max(points, key=lambda p: (p.throughput, -p.length))


def _losses(points: Sequence[Point]) -> dict[int, float]:
    """What each length loses against the best, beyond what nobody can tell."""
    best = best_of(points)
    plain = next(point for point in points if point.length == 0)
    if best.throughput < plain.throughput * (1 + TIE):
        best = plain
    return {point.length: _loss(point, best) for point in points}


def _loss(point: Point, best: Point) -> float:
    lost = log(best.throughput / point.throughput)
    if not best.length:  # drafting for nothing is as bad as the tie that it has to beat
        return max(TIE, lost) if point.length else 0.0
    unsure = min(TIE, margin(point, best)) if point.length < best.length else 0.0
    return max(0.0, lost - unsure)


def as_draft_length(
    chosen: Mapping[int, int], most_running: int
) -> int | dict[int, int] | None:
    """Write a schedule as a recipe's ``draft_length``; None: do not speculate.

    Between two batch sizes the larger one's length holds; above the last one nothing is
    drafted, since nothing is known of it.

    :param most_running: requests that the artifact runs at once.
    """
    entries: dict[int, int] = {}
    for batch, length in sorted(chosen.items(), reverse=True):
        if length and length not in entries.values():
            entries[batch] = length
    if not entries:
        return None
    ((largest, length), *more) = entries.items()
    if not more and largest >= most_running:
        return length
    return dict(sorted(entries.items()))
