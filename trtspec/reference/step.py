"""One step of speculative decoding: propose, verify, accept or correct, emit."""

from __future__ import annotations

import time
from collections.abc import Sequence

from torch import Tensor

from trtspec.errors import RunError
from trtspec.methods import Method
from trtspec.reference.acceptance import Acceptance, Rule, Verified
from trtspec.reference.drafters import DraftContext, Drafter, Observation
from trtspec.reference.laps import Laps
from trtspec.reference.logprobs import with_logprobs
from trtspec.reference.running import Running
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import Chunk, StepRecord, StepResult


def speculative_step(
    target: SlotModel,
    drafter: Drafter | None,
    running: Sequence[Running],
    method: Method,
    rule: Rule,
) -> StepResult:
    """Advance every running request by 1 token to its draft's depth + 1.

    Slot i of the target holds all tokens of ``running[i]`` but its last, the pending
    token. Without a draft this is plain decoding.

    :param method: gives the draft length of requests that have none of their own.
    :param rule: accepts draft tokens; see ``trtspec.reference.acceptance``.
    """
    laps = Laps()
    drafting_before = drafter.forward_seconds if drafter else 0.0

    # propose
    limits = [request.draft_limit(method, len(running)) for request in running]
    trees = _propose(drafter, running, limits)
    laps.end("draft")

    # verify: each pending token and its draft tree, all requests in one forward
    rows = [
        Row((request.tokens[-1], *tree.tokens), tree)
        for request, tree in zip(running, trees, strict=True)
    ]
    observed = drafter is not None and any(r.request.speculate for r in running)
    logits, states = target.run(0, rows, last_only=False, capture=observed)
    laps.end("forward")

    # accept or correct: keep the accepted path in the cache, the rest is rolled back
    best = likeliest_tokens(logits)
    outcomes = _accept(running, trees, logits, best, rule)
    for slot, outcome in enumerate(outcomes):
        target.keep(slot, _kept(outcome))
    laps.end("accept")

    # let the drafter learn
    if drafter is not None:
        _observe(drafter, running, outcomes, best, states)
    laps.end("draft")

    # emit
    chunks, accepted = _emit(running, trees, outcomes, logits)
    record = StepRecord(
        kind="decode",
        running=len(running),
        draft_length=max(limits),
        drafted=sum(tree.drafted for tree in trees),
        accepted=accepted,
        emitted=sum(len(chunk.tokens) for chunk in chunks),
        seconds=laps.total,
        draft_seconds=laps["draft"],
        draft_forward_seconds=(
            drafter.forward_seconds - drafting_before if drafter else 0.0
        ),
        forward_seconds=laps["forward"],
    )
    return StepResult(tuple(chunks), (record,))


def _propose(
    drafter: Drafter | None, running: Sequence[Running], limits: Sequence[int]
) -> list[DraftTree]:
    if drafter is None or not any(limits):
        return [NO_DRAFT] * len(running)
    contexts = [
        DraftContext(
            r.tokens, limit, r.request.sampling, r.chance, r.request.speculation
        )
        for r, limit in zip(running, limits, strict=True)
    ]
    return drafter.propose(contexts)


def likeliest_tokens(logits: Tensor) -> list[list[int]]:
    """Give the target's argmax at each place of ``logits`` [rows, n, vocabulary].

    :raises RunError: if the logits mean nothing.
    """
    likeliest = logits.max(-1)  # faster than argmax, same tie-breaking
    require_finite(likeliest.values)
    best: list[list[int]] = likeliest.indices.tolist()
    return best


def require_finite(values: Tensor) -> None:
    """Refuse to go on with logits that mean nothing.

    :raises RunError: if any value is NaN or infinite.
    """
    if not bool(values.isfinite().all()):
        raise RunError(
            "the target model's logits are not finite",
            action="use target.dtype bfloat16 or float32 if it is float16",
        )


def _accept(
    running: Sequence[Running],
    trees: Sequence[DraftTree],
    logits: Tensor,
    best: Sequence[Sequence[int]],
    rule: Rule,
) -> list[Acceptance]:
    """Apply the acceptance rule to each request's ``logits`` [n, vocabulary]."""
    return [
        rule(
            Verified(tree, logits[row], best[row], r.tokens),
            r.request.sampling,
            r.chance,
        )
        for row, (r, tree) in enumerate(zip(running, trees, strict=True))
    ]


def _kept(outcome: Acceptance) -> list[int]:
    """Places in the step of what counts from now on: pending token and path."""
    return [0, *(node + 1 for node in outcome.path)]


def _observe(
    drafter: Drafter,
    running: Sequence[Running],
    outcomes: Sequence[Acceptance],
    best: Sequence[Sequence[int]],
    states: Tensor | None,
) -> None:
    for slot, (request, outcome) in enumerate(zip(running, outcomes, strict=True)):
        if request.request.speculate:
            seen = None if states is None else states[slot, _kept(outcome)]
            drafter.observe(slot, Observation(seen, best[slot], outcome.path))


def _emit(
    running: Sequence[Running],
    trees: Sequence[DraftTree],
    outcomes: Sequence[Acceptance],
    logits: Tensor,
) -> tuple[list[Chunk], int]:
    """Give each request its tokens; also the number of draft tokens among them."""
    now = time.perf_counter()
    chunks = []
    accepted = 0
    for row, (request, tree, outcome) in enumerate(
        zip(running, trees, outcomes, strict=True)
    ):
        path_tokens = [tree.tokens[node] for node in outcome.path]
        chunk = request.emit((*path_tokens, outcome.next_token), now)
        used = min(len(chunk.tokens), len(path_tokens))
        request.count_step(tree.drafted, used, tree.depth)
        accepted += used
        chunks.append(
            with_logprobs(chunk, request.request, logits[row], _kept(outcome))
        )
    return chunks, accepted
