"""How long a step took, from what a client saw of requests that ran together.

While b requests run, each takes the same steps, so that
seconds of a step = b (window) / sum over requests of (tokens in it / tokens per step):
their TPOT times the tokens that a step emits. The window lasts from the last request's
first token to the first one's last: all are decoded in it, and no prompt is read.
"""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.bench.outcome import Outcome, Pass


def step_seconds(outcomes: Sequence[Outcome]) -> float | None:
    """Give the seconds of a step; None if too little ran at the same time.

    :param outcomes: of requests that were sent together; each says its verification
        steps.
    """
    begun = max(_first(o) for o in outcomes)
    ended = min(_last(o) for o in outcomes)
    steps = sum(_steps_within(o, begun, ended) for o in outcomes)
    if ended <= begun or steps < len(outcomes):
        return None
    return len(outcomes) * (ended - begun) / steps


def tells_steps(outcome: Outcome) -> bool:
    """Whether an outcome says how many steps it took."""
    return bool(outcome.steps) or outcome.output_tokens < 2


def reading_seconds(passed: Pass) -> float:
    """Give the seconds per prompt token until every request had its first token."""
    answered = passed.answered
    tokens = sum(o.prompt_tokens or 0 for o in answered)
    return (max(_first(o) for o in answered) - passed.started_at) / max(1, tokens)


def _first(outcome: Outcome) -> float:
    return outcome.chunks[0][0]


def _last(outcome: Outcome) -> float:
    return outcome.chunks[-1][0]


def _steps_within(outcome: Outcome, begun: float, ended: float) -> float:
    """Steps of a request in a window, by its tokens there and its tokens per step."""
    if outcome.output_tokens < 2 or not outcome.steps:
        return 0.0
    known = [(at, count) for at, count in outcome.chunks if count is not None]
    if not known:  # first and last token are all that was seen
        share = (ended - begun) / max(_last(outcome) - _first(outcome), 1e-12)
        return outcome.steps * min(share, 1.0)
    tokens = sum(count for at, count in known if begun < at <= ended)
    return tokens * outcome.steps / (outcome.output_tokens - 1)
