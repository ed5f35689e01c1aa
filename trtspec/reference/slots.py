"""A model with KV slots: ragged rows in one forward, tree verification, rollback.

A *slot* is one sequence's part of the KV cache. Slots 0 .. n-1 are in use, so that a
forward over all of them needs no copy. ``lengths`` says how many tokens of a slot
count; whatever lies behind is overwritten by the next forward. Rollback is therefore
"set the length", and a branch of a tree is kept by gathering its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from trtspec.reference import masks
from trtspec.reference.hf import CausalLM, Window
from trtspec.reference.tree import DraftTree

_LEAST_CAPACITY = 32  # for the probe


@dataclass(frozen=True, slots=True)
class Row:
    """New tokens for one slot; with a tree, its tokens follow the first one.

    :param tokens: token ids; may be empty (the slot is left as it is).
    """

    tokens: Sequence[int]
    tree: DraftTree | None = None

    @property
    def depths(self) -> Sequence[int]:
        """Distance of each token from the first new position."""
        if self.tree is None or self.tree.is_chain:
            return range(len(self.tokens))
        return (0, *self.tree.depths)


class SlotModel:
    """A causal LM whose slots are extended, rolled back and moved independently."""

    def __init__(
        self, model: torch.nn.Module, slots: int, max_tokens: int, longest_step: int
    ) -> None:
        """Prepare the slots; memory is taken at the first forward.

        :param max_tokens: most tokens of a sequence, prompt and output.
        :param longest_step: most tokens that a step can add before it is cut back.
        """
        # one spare position takes the padding of short rows
        self._capacity = max(max_tokens + longest_step + 1, _LEAST_CAPACITY)
        self._lm = CausalLM(model, slots, self._capacity)
        self.lengths = [0] * slots

    @property
    def device(self) -> torch.device:
        """Where the model and its slots live."""
        return self._lm.device

    @property
    def dtype(self) -> torch.dtype:
        """Type of the weights and of the cached keys and values."""
        return self._lm.dtype

    @property
    def vocabulary(self) -> int:
        """Rows of logits that the model gives, padding rows included."""
        return int(self._lm.config.vocab_size)

    @torch.inference_mode()
    def forward(self, first: int, rows: Sequence[Row], *, last_only: bool) -> Tensor:
        """Run new tokens of slots ``first``, ``first + 1``, ... in one pass.

        The entries are stored behind each slot's length, which stays as it is until
        ``keep`` is called.

        :param last_only: give logits after each row's last token only.
        :returns: [rows, vocabulary] if ``last_only`` (a row without tokens has no
            meaningful logits), else [rows, longest row, vocabulary].
        """
        starts = self.lengths[first : first + len(rows)]
        counts = [len(row.tokens) for row in rows]
        size = max(counts)
        tokens = torch.zeros(len(rows), size, dtype=torch.long)
        depths = torch.zeros(len(rows), size, dtype=torch.long)
        for index, row in enumerate(rows):
            tokens[index, : counts[index]] = torch.as_tensor(row.tokens)
            depths[index, : counts[index]] = torch.as_tensor(row.depths)
        start = torch.tensor(starts)
        window = self._window(first, start, counts)
        positions = start[:, None] + depths
        logits = self._lm.forward(
            tokens.to(self.device),
            positions.to(self.device),
            self._masks(starts, positions, [row.tree for row in rows], window),
            window,
            _last_columns(counts) if last_only else None,
        )
        if self.device.type != "cpu":
            # so that callers time the work itself, not its launch
            getattr(torch, self.device.type).synchronize()
        return _select_last(logits, counts) if last_only else logits

    def keep(self, slot: int, offsets: Sequence[int]) -> None:
        """Make the entries at these offsets behind the slot's length count.

        :param offsets: ascending; ``range(n)`` keeps the first n.
        """
        start = self.lengths[slot]
        if list(offsets) != list(range(len(offsets))):
            chosen = torch.tensor(offsets, device=self.device)
            self._each_layer("keep", slot, start, chosen)
        self.lengths[slot] = start + len(offsets)

    def roll_back(self, slot: int, length: int) -> None:
        """Cut a slot back to its first ``length`` tokens."""
        assert 0 <= length <= self.lengths[slot]
        self.lengths[slot] = length

    def clear(self, slot: int) -> None:
        """Empty a slot for the next sequence."""
        self._each_layer("clear", slot)
        self.lengths[slot] = 0

    def move(self, source: int, target: int) -> None:
        """Put one slot's sequence into another slot."""
        self._each_layer("move", source, target, self.lengths[source])
        self.lengths[target] = self.lengths[source]

    def contents(self, slot: int) -> list[tuple[Tensor, Tensor]]:
        """Give each layer's keys and values that count: [heads, length, head size]."""
        length = self.lengths[slot]
        return [
            (layer.keys[slot, :, :length], layer.values[slot, :, :length])
            for layer in self._lm.layers
        ]

    @torch.inference_mode()
    def _each_layer(self, action: str, *arguments: object) -> None:
        for layer in self._lm.layers:
            if layer.is_initialized:
                getattr(layer, action)(*arguments)

    def _window(self, first: int, starts: Tensor, counts: list[int]) -> Window:
        size, ends = max(counts), starts + torch.tensor(counts)
        dense = min(counts) == size and bool((starts == starts[0]).all())
        stored = starts[:, None] + torch.arange(size)
        # padding goes to the first position behind the row's own tokens
        stored = torch.minimum(stored, ends[:, None])
        return Window(
            first=first,
            rows=len(counts),
            columns=int(ends.max()),
            positions=stored.to(self.device),
            offset=int(starts[0]) if dense else None,
        )

    def _masks(
        self,
        starts: list[int],
        positions: Tensor,
        trees: list[DraftTree | None],
        window: Window,
    ) -> dict[str, Tensor]:
        """One additive mask per kind of layer, [rows, 1, n, columns]."""
        size, columns = positions.shape[1], window.columns
        seen = masks.visible(torch.tensor(starts), size, columns)
        masks.hide_other_branches(seen, starts, trees)
        by_type = {}
        for kind in sorted(self._lm.layer_types):
            allowed = seen
            if kind == "sliding_attention" and self._lm.sliding_window:
                keys = _column_positions(starts, positions, columns)
                allowed = masks.within_window(
                    seen, keys, positions, self._lm.sliding_window
                )
            by_type[kind] = masks.additive(allowed.to(self.device), self.dtype)
        return by_type


def _column_positions(starts: list[int], positions: Tensor, columns: int) -> Tensor:
    """Position in the sequence of what each column holds, [rows, columns]."""
    held = torch.arange(columns).repeat(len(starts), 1)
    for row, start in enumerate(starts):
        size = min(positions.shape[1], columns - start)
        held[row, start : start + size] = positions[row, :size]
    return held


def _last_columns(counts: list[int]) -> Tensor:
    return torch.tensor(sorted({max(count - 1, 0) for count in counts}))


def _select_last(logits: Tensor, counts: list[int]) -> Tensor:
    columns = _last_columns(counts).tolist()
    chosen = [columns.index(max(count - 1, 0)) for count in counts]
    return logits[torch.arange(len(counts)), chosen]
