"""From the times of whole steps to the tables that a choice is made from.

What is timed is a step that asks for so many draft tokens, whatever was found for them:
drafting and verification cannot be told apart from outside an engine. So the table of
verification has the plain step, and that of drafting all that asking for a draft adds.
Of trees the nodes are what is asked for, and the whole step stands with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from trtspec.errors import RunError
from trtspec.tune.costs import Cost, CostTable, Place, StepCosts, error_of_median


def step_costs(
    seconds: Mapping[Place, Sequence[float]],
    reading: float,
    *,
    most_read: int,
    by_nodes: bool,
) -> StepCosts:
    """Make the tables of one candidate.

    :param seconds: of steps, by batch size and draft length; 0 is plain decoding.
    :param reading: seconds per prompt token.
    :param most_read: most draft tokens that the target reads in a step of a trace.
    :param by_nodes: whether lengths are numbers of nodes.
    :raises RunError: if there is no time of some length.
    """
    batches = sorted({batch for batch, _ in seconds})
    lengths = sorted({length for _, length in seconds})
    cells = {
        (b, n): _cell(b, n, seconds.get((b, n), ())) for b in batches for n in lengths
    }
    verify, draft = [], []
    for batch in batches:
        plain, *drafting = (cells[batch, length] for length in lengths)
        verify.append(_at(plain, 1, plain.seconds))
        if by_nodes:
            verify += [_at(one, one.tokens + 1, one.seconds) for one in drafting]
            draft += [_at(plain, tokens, 0.0) for tokens in (1, most_read)]
            continue
        error = median(one.error for one in drafting)
        flat = plain.model_copy(update={"error": error})
        verify.append(_at(flat, most_read + 1, plain.seconds))
        # shorter than what was looked at: near the end of an answer
        shortest = drafting[0]
        draft.append(_at(shortest, 1, max(0.0, shortest.seconds - plain.seconds)))
        draft += [
            _at(one, one.tokens, max(0.0, one.seconds - plain.seconds))
            for one in drafting
            if one.tokens > 1
        ]
    return StepCosts(
        verify=CostTable(source="measured", cells=tuple(verify), reading=reading),
        draft=CostTable(source="measured", cells=tuple(draft)),
    )


def _cell(batch: int, length: int, seconds: Sequence[float]) -> Cost:
    if not seconds:
        what = f"draft length {length}" if length else "plain decoding"
        raise RunError(
            f"{what} at {batch} running requests: too few steps were taken together",
            allowed="answers of several tokens",
            action="raise --output-tokens or limits.max_total_tokens",
        )
    return Cost(
        batch=batch,
        tokens=length,
        seconds=median(seconds),
        error=error_of_median(seconds),
    )


def _at(cell: Cost, tokens: int, seconds: float) -> Cost:
    return cell.model_copy(update={"tokens": tokens, "seconds": seconds})
