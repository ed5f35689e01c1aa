"""How a head that reads its own states drafts along answers, all chains at once.

Training-time test (arXiv 2503.01840, section 3.2; SafeAILab/EAGLE
eagle/traineagle3/cnets.py): step 0 reads the target's states at every position; a later
step reads the head's own state of the step before, and sees step 0 up to where its
chain began and the chain's own steps since then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache

from trtspec.fit.batches import Batch

_NO_COLUMNS = torch.zeros(0, dtype=torch.long)


def unroll(
    head: nn.Module, batch: Batch, states: Tensor, steps: int
) -> Iterator[Tensor]:
    """Run a head step after step; gradients flow through the cached keys and values.

    :param head: called as a head in slots is.
    :param states: what it reads beside tokens 1 to n - 1, [rows, n - 1, width].
    :returns: per step the head's states of the chains that reach it, [k, width].
    """
    cache, size = DynamicCache(), states.shape[1]
    output = _run(
        head,
        batch.tokens[:, 1:],
        causal(size, states.device, _mask_type(states)),
        torch.arange(size, device=states.device).expand(states.shape[:2]),
        states=states,
        cache=cache,
    )
    given = output[batch.row, batch.start]
    yield given
    grid = _Grid(batch, size)
    for step in range(1, steps):
        at = grid.start + step
        output = _run(
            head,
            batch.tokens.gather(1, (at + 1).clamp(max=size)),
            grid.mask(step, _mask_type(given)),
            at,
            states=grid.spread(given),
            cache=cache,
        )
        given = output[batch.row, grid.column]
        yield given[batch.reaching(step)]


def _run(
    head: nn.Module,
    tokens: Tensor,
    mask: Tensor,
    positions: Tensor,
    *,
    states: Tensor,
    cache: Any,
) -> Tensor:
    """Give the head's states; logits are made where they are wanted, by the caller."""
    output = head(
        input_ids=tokens,
        attention_mask=mask,
        position_ids=positions,
        past_key_values=cache,
        logits_to_keep=_NO_COLUMNS.to(tokens.device),
        states=states,
    )
    given: Tensor = output.states
    return given.float()


class _Grid:
    """The chains as [rows, chains of a row], padded with chains that nobody reads.

    :ivar column: number of each chain in its row [K].
    """

    def __init__(self, batch: Batch, size: int) -> None:
        counts = batch.row.bincount(minlength=len(batch.tokens))
        before = counts.cumsum(0) - counts
        self.column = torch.arange(len(batch.row), device=counts.device)
        self.column -= before[batch.row]
        self._row, self._size = batch.row, size
        self.start = batch.start.new_zeros(len(counts), int(counts.max()))
        self.start[batch.row, self.column] = batch.start

    def spread(self, states: Tensor) -> Tensor:
        """Lay out states [K, width] as [rows, chains, width]."""
        laid = states.new_zeros(*self.start.shape, states.shape[-1])
        return laid.index_put((self._row, self.column), states)

    def mask(self, step: int, dtype: torch.dtype) -> Tensor:
        """What this step sees: step 0 up to the chain's start, and its own chain."""
        positions = torch.arange(self._size, device=self.start.device)
        before = positions <= self.start[..., None]
        own = torch.eye(self.start.shape[1], dtype=torch.bool, device=positions.device)
        own = own.repeat(len(self.start), 1, step)
        return _additive(torch.cat((before, own), -1)[:, None], dtype)


def causal(size: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Additive mask [1, 1, n, n] by which a position sees itself and what is before."""
    seen = torch.ones(size, size, dtype=torch.bool, device=device).tril()
    return _additive(seen[None, None], dtype)


def _additive(seen: Tensor, dtype: torch.dtype) -> Tensor:
    mask = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)


def _mask_type(states: Tensor) -> torch.dtype:
    """Attention wants its mask in the type that it computes in."""
    kind = states.device.type
    if torch.is_autocast_enabled(kind):
        return torch.get_autocast_dtype(kind)
    return states.dtype
