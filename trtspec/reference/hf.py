"""All contact with transformers' model, cache, hidden states and forward signature.

Supported: transformers 5.0 to 5.24 (both ends are tested). What differs in between
and is bridged here: the forward argument ``past_key_values`` became ``cache``, and a
cache layer's abstract ``get_max_cache_shape`` became ``get_max_length``.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM
from transformers.cache_utils import Cache, CacheLayerMixin
from transformers.utils import logging as transformers_logging

from trtspec.errors import RunError

SUPPORTED_LAYER_TYPES = {"full_attention", "sliding_attention"}


@dataclass(slots=True)
class Window:
    """Which part of the cache the running forward reads and writes.

    :param first: first slot; the forward's row r is slot ``first + r``.
    :param rows: number of rows.
    :param columns: how many positions the forward may look at.
    :param positions: where each new token is stored, int64 [rows, tokens].
    :param offset: common first position, if all rows store a dense run from it.
    """

    first: int
    rows: int
    columns: int
    positions: Tensor
    offset: int | None


class Inputs(NamedTuple):
    """What one forward runs over.

    :param tokens: ids [rows, n].
    :param positions: position of each token in its sequence [rows, n].
    :param masks: additive mask [rows, 1, n, columns] per layer type.
    :param keep_logits: columns of n whose logits are wanted; None for all.
    :param states: what a head reads beside each token [rows, n, width].
    """

    tokens: Tensor
    positions: Tensor
    masks: dict[str, Tensor]
    window: Window
    keep_logits: Tensor | None = None
    states: Tensor | None = None


class SlotLayer(CacheLayerMixin):  # type: ignore[misc]
    """One layer's keys and values for all slots: [slots, heads, capacity, head size].

    Nothing is ever moved to grow it: a forward writes at the positions that the
    window names and reads a view.
    """

    is_croppable = False
    is_sliding = False

    def __init__(self, slots: int, capacity: int) -> None:
        super().__init__()
        self.slots = slots
        self.capacity = capacity
        self.window: Window | None = None

    def lazy_initialization(
        self, key_states: Tensor, value_states: Tensor | None = None
    ) -> None:
        """Allocate in the shape of the first keys and values, [rows, heads, n, size].

        Zeros, not empty memory: a masked position has weight 0, and 0 x NaN is NaN.
        """
        values = key_states if value_states is None else value_states
        self.keys, self.values = (
            states.new_zeros(
                self.slots, states.shape[1], self.capacity, states.shape[3]
            )
            for states in (key_states, values)
        )
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        """Store the new keys and values; give all that the rows may look at."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        window = self.window
        assert window is not None, "a forward must set the window first"
        rows = slice(window.first, window.first + window.rows)
        keys, values = self.keys[rows], self.values[rows]
        if window.offset is not None:
            stored = slice(window.offset, window.offset + key_states.shape[2])
            keys[:, :, stored] = key_states
            values[:, :, stored] = value_states
        else:
            row = torch.arange(window.rows, device=keys.device)[:, None]
            keys[row, :, window.positions] = key_states.transpose(1, 2)
            values[row, :, window.positions] = value_states.transpose(1, 2)
        return keys[:, :, : window.columns], values[:, :, : window.columns]

    def get_mask_sizes(self, *args: Any) -> tuple[int, int]:
        """Length and offset of what the rows may look at."""
        return (self.window.columns if self.window else 0), 0

    def get_seq_length(self, *args: Any) -> int:
        """Zero: every forward of ours brings its own positions and mask."""
        return 0

    def get_max_length(self) -> int:
        """Capacity of a slot in tokens (transformers from 5.2x on)."""
        return self.capacity

    def get_max_cache_shape(self) -> int:
        """Capacity of a slot in tokens (transformers 5.0)."""
        return self.capacity

    def keep(self, slot: int, start: int, offsets: Tensor) -> None:
        """Gather the entries at ``start + offsets`` [n] to ``start`` onwards."""
        for stored in (self.keys, self.values):
            kept = stored[slot, :, start + offsets]
            stored[slot, :, start : start + len(offsets)] = kept

    def clear(self, slot: int) -> None:
        """Zero a slot, so that nothing of its sequence is left, NaN included."""
        for stored in (self.keys, self.values):
            stored[slot].zero_()

    def move(self, source: int, target: int, length: int) -> None:
        """Copy the first ``length`` entries of one slot over another's."""
        for stored in (self.keys, self.values):
            stored[target, :, :length] = stored[source, :, :length]


class CausalLM:
    """A transformers causal LM together with a slot cache of its own."""

    def __init__(self, model: torch.nn.Module, slots: int, capacity: int) -> None:
        self.model = model.eval()
        self.config: Any = model.config.get_text_config()  # type: ignore[operator,union-attr]
        self.layer_types = _layer_types(self.config)
        _require_fixed_positions(self.config, capacity)
        self.layers = [
            SlotLayer(slots, capacity) for _ in range(self.config.num_hidden_layers)
        ]
        self._cache_argument = cache_argument(model)
        self._cache = Cache(layers=list(self.layers))
        weight = next(model.parameters())
        self.device, self.dtype = weight.device, weight.dtype

    @property
    def sliding_window(self) -> int | None:
        """Tokens that a sliding-window layer looks back; None without such layers."""
        if "sliding_attention" in self.layer_types:
            return int(self.config.sliding_window)
        return None

    def forward(self, inputs: Inputs) -> Any:
        """Run the model once over new tokens and store their keys and values.

        :returns: the model's output; ``logits`` are [rows, n or len(keep_logits),
            vocabulary], and a head's ``states`` [rows, n, its width].
        """
        for layer in self.layers:
            layer.window = inputs.window
        masks, keep = inputs.masks, inputs.keep_logits
        arguments: dict[str, Any] = {self._cache_argument: self._cache}
        if inputs.states is not None:
            arguments["states"] = inputs.states
        return self.model(
            input_ids=inputs.tokens,
            attention_mask=masks if len(masks) > 1 else next(iter(masks.values())),
            position_ids=inputs.positions,
            use_cache=True,
            logits_to_keep=0 if keep is None else keep,
            **arguments,
        )


def cache_argument(module: torch.nn.Module) -> str:
    """Name of the forward argument that takes the cache, in this transformers."""
    return _cache_argument(type(module))  # type: ignore[arg-type]


@lru_cache
def _cache_argument(kind: type[torch.nn.Module]) -> str:
    parameters = inspect.signature(kind.forward).parameters
    return "cache" if "cache" in parameters else "past_key_values"


def load_causal_lm(directory: Path, dtype: str, device: str) -> torch.nn.Module:
    """Load a converted checkpoint; no code from the checkpoint is ever executed.

    :raises RunError: if transformers cannot load it, or would have to invent weights.
    """
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity_error()
    try:
        model, report = AutoModelForCausalLM.from_pretrained(
            directory,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        loaded: torch.nn.Module = model.to(device)
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # anything may come out of a checkpoint
        raise _cannot_load(directory, str(error)) from error
    if missing := sorted(report["missing_keys"]):
        # transformers only warns, and fills them with random numbers
        raise _cannot_load(directory, f"it has no weights for {', '.join(missing[:3])}")
    return loaded


def _cannot_load(directory: Path, reason: str) -> RunError:
    return RunError(
        f"transformers cannot load this model: {reason}",
        where=str(directory),
        action="get the checkpoint again: its weights and config.json do not agree, or "
        "this version of transformers does not know the model",
    )


def _require_fixed_positions(config: Any, capacity: int) -> None:
    """Refuse position encodings that depend on what else is in the forward.

    transformers picks the frequencies of these types by the largest position in the
    batch: a longer neighbour, or a draft, would change every row's output.

    :raises RunError: if sequences can grow to where that happens.
    """
    for rope in _ropes(config):
        kind = rope.get("rope_type") or rope.get("type")
        if kind not in ("dynamic", "longrope"):
            continue
        original = rope.get("original_max_position_embeddings") or getattr(
            config, "original_max_position_embeddings", None
        )
        usual = original or config.max_position_embeddings
        if capacity > usual:
            raise RunError(
                f"{config.model_type} changes its position encoding ({kind}) with "
                f"the longest sequence of a batch beyond {usual} tokens",
                allowed=f"limits.max_total_tokens below {usual}, less the draft length",
                action="lower limits.max_total_tokens in the recipe",
            )


def _ropes(config: Any) -> list[dict[str, Any]]:
    """Rope settings of all layer types."""
    found = getattr(config, "rope_parameters", None) or {}
    nested = [value for value in found.values() if isinstance(value, dict)]
    return nested or [found]


def _layer_types(config: Any) -> set[str]:
    types = set(getattr(config, "layer_types", None) or ())
    if not types:
        sliding = getattr(config, "sliding_window", None) is not None
        types = {"sliding_attention" if sliding else "full_attention"}
    if unknown := types - SUPPORTED_LAYER_TYPES:
        raise RunError(
            f"{config.model_type} has layers of type {', '.join(sorted(unknown))}, "
            "whose state cannot be rolled back by the reference backend",
            allowed=", ".join(sorted(SUPPORTED_LAYER_TYPES)),
        )
    return types
