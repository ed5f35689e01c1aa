"""One step of speculative decoding: propose, verify, accept or correct, emit."""

from __future__ import annotations

import time
from collections.abc import Sequence

from torch import Tensor

from trtspec.errors import RunError
from trtspec.methods import Method
from trtspec.reference.acceptance import Acceptance, accept_greedy, accept_sampled
from trtspec.reference.drafters import DraftContext, Drafter
from trtspec.reference.running import Running
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import StepRecord, StepResult


def speculative_step(
    target: SlotModel,
    drafter: Drafter | None,
    running: Sequence[Running],
    method: Method,
) -> StepResult:
    """Advance every running request by 1 token to its draft length + 1.

    Slot i of the target holds all tokens of ``running[i]`` but its last, the pending
    token. Without a draft this is plain decoding.

    :param method: gives the draft length of requests that have none of their own.
    """
    started = time.perf_counter()
    drafting_before = drafter.forward_seconds if drafter else 0.0

    # propose
    limits = [request.draft_limit(method, len(running)) for request in running]
    trees = _propose(drafter, running, limits)
    proposed_at = time.perf_counter()

    # verify: each pending token and its draft tree, all requests in one forward
    rows = [
        Row((request.tokens[-1], *tree.tokens), tree)
        for request, tree in zip(running, trees, strict=True)
    ]
    logits = target.forward(0, rows, last_only=False)
    verified_at = time.perf_counter()

    # accept or correct: keep the accepted path in the cache, the rest is rolled back
    outcomes = _accept(running, trees, logits)
    for slot, outcome in enumerate(outcomes):
        target.keep(slot, [0, *(node + 1 for node in outcome.path)])

    # emit
    now = time.perf_counter()
    chunks = []
    accepted = 0
    for request, tree, outcome in zip(running, trees, outcomes, strict=True):
        path_tokens = [tree.tokens[node] for node in outcome.path]
        chunk = request.emit((*path_tokens, outcome.next_token), now)
        used = min(len(chunk.tokens), len(path_tokens))
        request.count_step(len(tree), used)
        accepted += used
        chunks.append(chunk)
    record = StepRecord(
        kind="decode",
        running=len(running),
        draft_length=max(limits),
        drafted=sum(map(len, trees)),
        accepted=accepted,
        emitted=sum(len(chunk.tokens) for chunk in chunks),
        seconds=time.perf_counter() - started,
        draft_seconds=proposed_at - started,
        draft_forward_seconds=(
            drafter.forward_seconds - drafting_before if drafter else 0.0
        ),
        forward_seconds=verified_at - proposed_at,
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


def _accept(
    running: Sequence[Running], trees: Sequence[DraftTree], logits: Tensor
) -> list[Acceptance]:
    """Apply each request's acceptance rule to ``logits`` [rows, n, vocabulary]."""
    likeliest = logits.max(-1)  # faster than argmax, same tie-breaking
    require_finite(likeliest.values)
    best = likeliest.indices.tolist()
    return [
        accept_greedy(tree, best[row])
        if request.request.sampling.greedy
        else _accept_sampled(request, tree, logits[row])
        for row, (request, tree) in enumerate(zip(running, trees, strict=True))
    ]


def require_finite(values: Tensor) -> None:
    """Refuse to go on with logits that mean nothing.

    :raises RunError: if any value is NaN or infinite.
    """
    if not bool(values.isfinite().all()):
        raise RunError(
            "the target model's logits are not finite",
            action="use target.dtype bfloat16 or float32 if it is float16",
        )


def _accept_sampled(request: Running, tree: DraftTree, logits: Tensor) -> Acceptance:
    sampling = request.request.sampling
    return accept_sampled(
        tree, lambda node: distribution(logits[node + 1], sampling), request.chance
    )
