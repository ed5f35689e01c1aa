"""A model with KV slots: ragged rows in one forward, tree verification, rollback.

A *slot* is one sequence's part of the KV cache. Slots 0 .. n-1 are in use, so that a
forward over all of them needs no copy. ``lengths`` says how many tokens of a slot
count; whatever lies behind is overwritten by the next forward. Rollback is therefore
"set the length", and a branch of a tree is kept by gathering its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from trtspec.reference import masks
from trtspec.reference.capture import Capture
from trtspec.reference.hf import CausalLM, Inputs, Window
from trtspec.reference.tree import DraftTree

_LEAST_CAPACITY = 32  # for the probe


@dataclass(frozen=True, slots=True)
class Row:
    """New tokens for one slot.

    With a tree the slot's step is the pending token followed by the tree's nodes.

    :param tokens: token ids; may be empty (the slot is left as it is).
    :param fed: how many of the step's tokens were stored by earlier forwards and not
        kept; ``tokens`` follow them. A tree is grown level by level in this way.
    :param states: what a head reads beside each token, [tokens, width].
    """

    tokens: Sequence[int]
    tree: DraftTree | None = None
    fed: int = 0
    states: Tensor | None = None

    @property
    def depths(self) -> Sequence[int]:
        """Distance of each token from the first position that does not count yet."""
        end = self.fed + len(self.tokens)
        if self.tree is None or self.tree.is_chain:
            return range(self.fed, end)
        return (0, *self.tree.depths)[self.fed : end]


class Output(NamedTuple):
    """What a forward gives.

    :param logits: [rows, vocabulary] after each row's last token (of a row without
        tokens they mean nothing), or [rows, longest row, vocabulary].
    :param states: [rows, longest row, width]: the captured layers' hidden states, or
        what a head feeds itself next; None if nothing is captured.
    """

    logits: Tensor
    states: Tensor | None


class SlotModel:
    """A causal LM whose slots are extended, rolled back and moved independently."""

    def __init__(
        self, model: torch.nn.Module, slots: int, max_tokens: int, longest_step: int
    ) -> None:
        """Prepare the slots; memory is taken at the first forward.

        :param model: a causal LM of transformers, or one of our ``heads``.
        :param max_tokens: most tokens of a sequence, prompt and output.
        :param longest_step: most tokens that a step can add before it is cut back.
        """
        # one spare position takes the padding of short rows
        self._capacity = max(max_tokens + longest_step + 1, _LEAST_CAPACITY)
        self._lm = CausalLM(model, slots, self._capacity)
        self._capture: Capture | None = None
        self.lengths = [0] * slots

    def capture(self, layers: Sequence[int]) -> None:
        """Let ``run`` give these layers' hidden states from now on.

        :param layers: see ``Capture``; empty for none.
        """
        if self._capture is not None:
            self._capture.remove()
        self._capture = Capture(self._lm.model, layers) if layers else None

    @property
    def model(self) -> torch.nn.Module:
        """The model that lives in the slots."""
        return self._lm.model

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

    def forward(self, first: int, rows: Sequence[Row], *, last_only: bool) -> Tensor:
        """Give the logits of ``run``."""
        return self.run(first, rows, last_only=last_only, capture=False).logits

    @torch.inference_mode()
    def run(
        self,
        first: int,
        rows: Sequence[Row],
        *,
        last_only: bool,
        capture: bool = True,
    ) -> Output:
        """Run new tokens of slots ``first``, ``first + 1``, ... in one pass.

        The entries are stored behind each slot's length, which stays as it is until
        ``keep`` is called.

        :param last_only: give logits after each row's last token only.
        :param capture: give the states of the captured layers, if there are any.
        """
        kept = self.lengths[first : first + len(rows)]
        starts = [length + row.fed for length, row in zip(kept, rows, strict=True)]
        counts = [len(row.tokens) for row in rows]
        tokens = torch.zeros(len(rows), max(counts), dtype=torch.long)
        depths = torch.zeros(len(rows), max(counts), dtype=torch.long)
        for index, row in enumerate(rows):
            tokens[index, : counts[index]] = torch.as_tensor(row.tokens)
            depths[index, : counts[index]] = torch.as_tensor(row.depths)
        window = self._window(first, torch.tensor(starts), counts)
        positions = torch.tensor(kept)[:, None] + depths
        inputs = Inputs(
            tokens.to(self.device),
            positions.to(self.device),
            self._masks(starts, positions, rows, window),
            window,
            _last_columns(counts) if last_only else None,
            _padded_states(rows, max(counts)),
        )
        output = self._forward(inputs, capture)
        if self.device.type != "cpu":
            # so that callers time the work itself, not its launch
            getattr(torch, self.device.type).synchronize()
        if last_only:
            return Output(_select_last(output.logits, counts), output.states)
        return output

    def _forward(self, inputs: Inputs, capture: bool) -> Output:
        if self._capture is None or not capture:
            output = self._lm.forward(inputs)
            return Output(output.logits, getattr(output, "states", None))
        with self._capture as captured:
            output = self._lm.forward(inputs)
        return Output(output.logits, captured.states())

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
        rows: Sequence[Row],
        window: Window,
    ) -> dict[str, Tensor]:
        """One additive mask per kind of layer, [rows, 1, n, columns].

        :param starts: where each row's new tokens are stored from.
        """
        size, columns = positions.shape[1], window.columns
        seen = masks.visible(torch.tensor(starts), size, columns)
        masks.hide_other_branches(
            seen, starts, [row.tree for row in rows], [row.fed for row in rows]
        )
        by_type = {}
        for kind in sorted(self._lm.layer_types):
            allowed = seen
            if kind == "sliding_attention" and self._lm.sliding_window:
                keys = _column_positions(starts, positions, rows, columns)
                allowed = masks.within_window(
                    seen, keys, positions, self._lm.sliding_window
                )
            by_type[kind] = masks.additive(allowed.to(self.device), self.dtype)
        return by_type


def _column_positions(
    starts: list[int], positions: Tensor, rows: Sequence[Row], columns: int
) -> Tensor:
    """Position in the sequence of what each column holds, [rows, columns]."""
    held = torch.arange(columns).repeat(len(starts), 1)
    for index, (start, row) in enumerate(zip(starts, rows, strict=True)):
        size = min(positions.shape[1], columns - start)
        held[index, start : start + size] = positions[index, :size]
        if row.fed and row.tree is not None:
            depths = torch.tensor((0, *row.tree.depths)[: row.fed])
            held[index, start - row.fed : start] = start - row.fed + depths
    return held


def _padded_states(rows: Sequence[Row], size: int) -> Tensor | None:
    """Lay out what a head reads as [rows, longest row, width]; None if no head."""
    given = [row.states for row in rows if row.states is not None and len(row.states)]
    if not given:
        return None
    padded = given[0].new_zeros(len(rows), size, given[0].shape[1])
    for index, row in enumerate(rows):
        if row.states is not None:
            padded[index, : len(row.states)] = row.states
    return padded


def _last_columns(counts: list[int]) -> Tensor:
    return torch.tensor(sorted({max(count - 1, 0) for count in counts}))


def _select_last(logits: Tensor, counts: list[int]) -> Tensor:
    columns = _last_columns(counts).tolist()
    chosen = [columns.index(max(count - 1, 0)) for count in counts]
    return logits[torch.arange(len(counts)), chosen]
