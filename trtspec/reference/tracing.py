"""What a drafter would have had accepted, at every place of the target's own answers.

The engine decodes plainly, one token a step, but drafts and verifies at every place: a
draft of K tokens there tells how far any shorter one would have come, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from trtspec.errors import RunError, UsageError
from trtspec.reference.acceptance import Acceptance, Verified, accept_greedy
from trtspec.reference.chance import Chance
from trtspec.reference.engine import Engine
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Completion, Request, SamplingParams

Places = list[tuple[int, int]]
"""What was offered and accepted at each place of an answer."""


class TracingRule:
    """Says what would be accepted, and accepts nothing; see ``acceptance.Rule``."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []
        """Offered and accepted, of each request of the step that is under way."""

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Note a request's draft and emit the target's own next token."""
        path = accept_greedy(verified.tree, verified.best).path
        self.seen.append((verified.tree.depth, len(path)))
        return Acceptance((), verified.best[0])


def trace(
    runner: ReferenceRunner, requests: Sequence[Request]
) -> list[tuple[Completion, Places]]:
    """Decode greedily and note at every place what a draft would have brought.

    :param requests: greedy, and with speculation; their own draft length holds.
    :return: each request's answer, and its places: one less than it has tokens.
    :raises UsageError: for a request that samples: its answer depends on the drafts.
    :raises RunError: if the runner is busy.
    """
    if runner.busy:
        raise RunError("the engine is still busy with earlier requests")
    for request in requests:
        if not request.sampling.greedy:
            raise UsageError(
                f"temperature {request.sampling.temperature:g}",
                where=f"request {request.id}",
                allowed="greedy decoding: an answer that does not depend on the drafts",
            )
    engine, rule = runner.engine, TracingRule()
    for request in requests:
        runner.submit(request)
    places: dict[str, Places] = defaultdict(list)
    done: dict[str, Completion] = {}
    with engine.instead(rule=rule):
        while runner.busy:
            done |= _advance(engine, rule, places)
    return [(done[request.id], places[request.id]) for request in requests]


def _advance(
    engine: Engine, rule: TracingRule, places: dict[str, Places]
) -> dict[str, Completion]:
    """Do one engine step; give what ended."""
    rule.seen.clear()
    running = [one.request.id for one in engine.running]
    result = engine.advance()
    for name, place in zip(running, rule.seen, strict=False):
        places[name].append(place)
    return {c.request_id: c.completion for c in result.chunks if c.completion}
