"""How new requests get their prompts read and their first token."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor

from trtspec.reference.acceptance import Verified, accept_exactly
from trtspec.reference.drafters import Drafter, Observation
from trtspec.reference.laps import Laps
from trtspec.reference.logprobs import with_logprobs
from trtspec.reference.running import Running
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


def prefill(
    target: SlotModel,
    drafter: Drafter | None,
    first: int,
    joining: Sequence[Running],
) -> StepResult:
    """Read the prompts into slots ``first`` onwards; emit each first token."""
    laps = Laps()
    logits = _read(target, drafter, first, joining, laps)
    require_finite(torch.stack([row.max() for row in logits]))
    tokens = [_first_token(r, row) for r, row in zip(joining, logits, strict=True)]
    now = time.perf_counter()
    chunks = tuple(
        with_logprobs(r.emit((token,), now), r.request, row[None], (0,))
        for r, token, row in zip(joining, tokens, logits, strict=True)
    )
    record = StepRecord(
        kind="prefill",
        running=len(joining),
        draft_length=0,
        drafted=0,
        accepted=0,
        emitted=len(chunks),
        seconds=laps.total,
        draft_seconds=laps["draft"],
        draft_forward_seconds=0.0,
        forward_seconds=laps["forward"],
    )
    return StepResult(chunks, (record,))


def _read(
    target: SlotModel,
    drafter: Drafter | None,
    first: int,
    joining: Sequence[Running],
    laps: Laps,
) -> list[Tensor]:
    """Logits [vocabulary] after each prompt's last token."""
    prompts = [request.request.prompt for request in joining]
    observed = drafter is not None and any(r.request.speculate for r in joining)
    after_last: dict[int, Tensor] = {}
    for start in range(0, max(map(len, prompts)), CHUNK):
        parts = [prompt[start : start + CHUNK] for prompt in prompts]
        logits, states = target.run(
            first,
            [Row(part) for part in parts],
            last_only=True,
            capture=observed,
        )
        for row, part in enumerate(parts):
            target.keep(first + row, range(len(part)))
            if part and start + len(part) == len(prompts[row]):
                after_last[row] = logits[row]
        laps.end("forward")
        if drafter is not None:
            _observe(drafter, first, joining, [len(part) for part in parts], states)
        laps.end("draft")
    return [after_last[row] for row in range(len(prompts))]


def _observe(
    drafter: Drafter,
    first: int,
    joining: Sequence[Running],
    sizes: Sequence[int],
    states: Tensor | None,
) -> None:
    """Tell the drafter of the parts that were read, of ``sizes`` tokens."""
    for row, (request, size) in enumerate(zip(joining, sizes, strict=True)):
        if size and request.request.speculate:
            seen = None if states is None else states[row, :size]
            drafter.observe(first + row, Observation(seen))


def _first_token(request: Running, logits: Tensor) -> int:
    """Choose by logits [vocabulary] as after any other step, but without a draft."""
    best = int(logits.max(-1).indices)
    verified = Verified(NO_DRAFT, logits[None], [best], request.tokens)
    return accept_exactly(verified, request.request.sampling, request.chance).next_token
