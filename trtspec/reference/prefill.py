"""How new requests get their prompts read and their first token."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from trtspec.reference.acceptance import accept_greedy, accept_sampled
from trtspec.reference.running import Running
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.step import require_finite
from trtspec.reference.tree import NO_DRAFT
from trtspec.run import StepRecord, StepResult

CHUNK = 512
"""Prompt tokens of a row per forward: bounds the mask and the activations."""
MAX_PADDED_TOKENS = 4096
"""Tokens of all rows of one prefill together, padding included."""
MAX_PADDING = 1.25
"""Padded tokens / real tokens up to which prompts are read together."""


def group_size(lengths: Sequence[int]) -> int:
    """How many of the first waiting prompts are read in one pass.

    At least one; more while padding them to the longest costs little.

    :param lengths: prompt lengths in the order of arrival.
    """
    size = 1
    while size < len(lengths):
        group = lengths[: size + 1]
        padded = max(group) * len(group)
        if padded > MAX_PADDED_TOKENS or padded > MAX_PADDING * sum(group):
            break
        size += 1
    return size


def prefill(target: SlotModel, first: int, joining: Sequence[Running]) -> StepResult:
    """Read the prompts into slots ``first`` onwards; emit each first token."""
    started = time.perf_counter()
    prompts = [request.request.prompt for request in joining]
    logits = _read(target, first, prompts)
    read_at = time.perf_counter()
    require_finite(torch.stack([row.max() for row in logits]))
    tokens = [_first_token(r, row) for r, row in zip(joining, logits, strict=True)]
    now = time.perf_counter()
    chunks = tuple(r.emit((t,), now) for r, t in zip(joining, tokens, strict=True))
    record = StepRecord(
        kind="prefill",
        running=len(joining),
        draft_length=0,
        drafted=0,
        accepted=0,
        emitted=len(chunks),
        seconds=time.perf_counter() - started,
        draft_seconds=0.0,
        draft_forward_seconds=0.0,
        forward_seconds=read_at - started,
    )
    return StepResult(chunks, (record,))


def _read(
    target: SlotModel, first: int, prompts: list[tuple[int, ...]]
) -> list[Tensor]:
    """Logits [vocabulary] after each prompt's last token."""
    after_last: dict[int, Tensor] = {}
    for start in range(0, max(map(len, prompts)), CHUNK):
        parts = [prompt[start : start + CHUNK] for prompt in prompts]
        logits = target.forward(first, [Row(part) for part in parts], last_only=True)
        for row, part in enumerate(parts):
            target.keep(first + row, range(len(part)))
            if part and start + len(part) == len(prompts[row]):
                after_last[row] = logits[row]
    return [after_last[row] for row in range(len(prompts))]


def _first_token(request: Running, logits: Tensor) -> int:
    sampling = request.request.sampling
    if sampling.greedy:
        best = torch.max(logits, -1).indices
        return accept_greedy(NO_DRAFT, [int(best)]).next_token
    return accept_sampled(
        NO_DRAFT, lambda _: distribution(logits, sampling), request.chance
    ).next_token
