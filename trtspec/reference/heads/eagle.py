"""EAGLE's first head: a decoder layer on embedding and hidden state, projected to one.

arXiv 2401.15077 (EAGLE-1); the head of EAGLE-2, arXiv 2406.16858, is the same.
SafeAILab/EAGLE eagle/model/cnets1.py: ``fc`` of [embedding; state], layers of which the
first has no norm before its attention, no norm after the last, and the LM head of the
target. The states come from after the target's final norm (eagle/model/ea_model.py).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.errors import RunError
from trtspec.models.head_names import head_names
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.heads.base import (
    HeadOutput,
    Shared,
    cast_weights,
    kept,
    positions_for,
)
from trtspec.reference.heads.eagle_config import layer_config
from trtspec.reference.heads.eagle_layers import (
    LLAMA,
    Surroundings,
    fit_biases,
    plain_layer,
    run_layers,
)
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names

_OUTPUT = "lm_head.weight"
_TARGET_OUTPUTS = (_OUTPUT, "model.embed_tokens.weight")
"""Where a target stores its LM head: apart, or tied to its embedding."""


class EagleHead(nn.Module):
    """Drafts what follows a token from its embedding and the state before it.

    A state is what the target's LM head reads, or, further on, what the head itself
    gave, ``HeadOutput.states``.
    """

    def __init__(
        self,
        config: Any,
        *,
        lm_head: Shared,
        embedding: Shared | None = None,
        embedded: int | None = None,
    ) -> None:
        """Make a head with weights of chance.

        :param config: a ``LlamaConfig`` of the decoder layers.
        :param lm_head: the target's.
        :param embedding: the target's; None for a head with its own.
        :param embedded: rows of the head's own embedding.
        """
        super().__init__()
        self.config = config
        width, layers = config.hidden_size, range(config.num_hidden_layers)
        self.fc = nn.Linear(2 * width, width)
        self.layers = nn.ModuleList(plain_layer(config, n, LLAMA) for n in layers)
        self.layers[0].input_layernorm = nn.Identity()
        self.rotary = LLAMA.rotary(config)
        if embedding is None:
            self.embed_tokens = nn.Embedding(embedded or config.vocab_size, width)
        # in a tuple, so that the target's modules do not become the head's own
        self._shared = (embedding, lm_head)

    def fuse(self, captured: Tensor) -> Tensor:
        """Take the target's states [..., width] as they are."""
        return captured

    @property
    def known_tokens(self) -> int | None:
        """Rows of its own embedding; None if that is the target's."""
        embedding, _ = self._shared
        return None if embedding else self.embed_tokens.num_embeddings

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | dict[str, Tensor] | None = None,
        position_ids: Tensor | None = None,
        *,
        past_key_values: Any = None,
        use_cache: bool = True,
        logits_to_keep: int | Tensor = 0,
        states: Tensor | None = None,
    ) -> HeadOutput:
        """Draft after each position; see ``Eagle3Head.forward``."""
        assert states is not None, "a head reads states"
        embedding, lm_head = self._shared
        embedded = (embedding or self.embed_tokens)(input_ids).to(states.dtype)
        states = self.fc(torch.cat((embedded, states), -1))
        positions = positions_for(input_ids, position_ids)
        rotation = self.rotary(states, positions)
        around = Surroundings(attention_mask, positions, rotation, past_key_values)
        states = run_layers(self.layers, embedded, states, around)
        return HeadOutput(lm_head(kept(states, logits_to_keep)), states)


def load_eagle(directory: Path, setup: DrafterSetup) -> EagleHead:
    """Load a head as SafeAILab/EAGLE or the speculators library stores it.

    Some checkpoints hold a copy of the target's LM head. It is not loaded, but has to
    be that one: a head that was trained with another drafts by it.

    :raises RunError: if a tensor is missing, unexpected or of another shape, or the
        head was not made for this target.
    """
    names = module_names(tensor_names(directory))
    copies = [name for name, own in names.items() if own == _OUTPUT]
    for name in copies:
        del names[name]
        _require_copy(directory, name, setup)
    tensors = read_tensors(directory, names)
    config = layer_config(directory, tensors)
    if config.hidden_size != setup.hidden_size:
        raise RunError(
            f"hidden_size is {config.hidden_size}",
            where=str(directory / "config.json"),
            allowed=f"{setup.hidden_size}, of this target model",
            action="choose a head that was made for this target model",
        )
    own = tensors.get("embed_tokens.weight")
    head = EagleHead(
        config,
        lm_head=setup.lm_head,
        embedding=setup.embedding if own is None else None,
        embedded=None if own is None else own.shape[0],
    )
    fit_biases(head, tensors)
    public = {own: stored for stored, own in names.items()}
    fill(head, tensors, directory, lambda name: public.get(name, name))
    return cast_weights(head, setup.dtype, setup.device)


def _require_copy(directory: Path, name: str, setup: DrafterSetup) -> None:
    """Refuse an LM head that is not the target's, in the type that it runs in.

    :param name: of the copy.
    """
    copy = read_tensors(directory, {name: name})[name]
    stored = read_tensors(setup.target_directory, {n: n for n in _TARGET_OUTPUTS})
    theirs = next((stored[n] for n in _TARGET_OUTPUTS if n in stored), None)
    if theirs is None:
        what = f"brings {name}, and the target stores no LM head to hold it against"
    elif copy.shape != theirs.shape:
        sizes = f"{list(copy.shape)}, the target's {list(theirs.shape)}"
        what = f"{name} is {sizes}: it was made for another target"
    elif not torch.equal(copy.to(setup.dtype), theirs.to(setup.dtype)):
        what = f"{name} is not the target's LM head: it was made for another target"
    else:
        return
    raise RunError(
        what,
        where=str(directory),
        allowed="no LM head, or a copy of this target model's",
        action="choose a head that was made for this target model",
    )


def module_names(stored: Collection[str]) -> dict[str, str]:
    """Give the name that each of a checkpoint's tensors has in ``EagleHead``."""
    return head_names("eagle", stored)
