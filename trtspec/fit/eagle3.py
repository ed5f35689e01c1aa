"""How an EAGLE-3 head is fitted: draft steps in training, on its own states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig

from trtspec.errors import UsageError
from trtspec.fit.batches import Batch
from trtspec.fit.export import export
from trtspec.fit.objective import Compared, Objective
from trtspec.fit.target import Target
from trtspec.fit.unroll import unroll
from trtspec.reference.capture import decoder_layers
from trtspec.reference.heads.eagle3 import Eagle3Head
from trtspec.reference.heads.eagle3_layout import (
    Eagle3Layout,
    module_names,
    published_names,
)
from trtspec.reference.heads.stored import read_tensors, tensor_names


class Eagle3Objective(Objective):
    """An EAGLE-3 head of one layer with a vocabulary of its own."""

    def __init__(
        self, target: Target, ids: Tensor, layers: Sequence[int], steps: int
    ) -> None:
        """Make a head that begins as near to the target as can be.

        :param ids: the target's ids of the tokens to draft, ascending.
        :param layers: the target's layers to fuse.
        """
        _require_llama(target)
        self.layers = tuple(layers)
        self.head = Eagle3Head(
            _layer_config(target),
            Eagle3Layout(
                target_width=target.hidden_size,
                drafted=len(ids),
                embedded=target.vocabulary,
                captured=len(layers),
                has_table=True,
                has_mask=True,
            ),
            embedding=target.embedding,
        )
        super().__init__(target, self.head, steps, ids=ids)
        begin_from_target(self.head, target, ids)
        self.head.to(target.device)

    def guesses(self, batch: Batch, compared: Compared) -> Iterator[Tensor]:
        """Step 0 over all positions, then one step after the other from the chains."""
        captured = batch.states[:, :-1, : -self.target.hidden_size].float()
        states = self.head.fuse(captured).float()
        for given in unroll(self.head, batch, states, self.steps):
            yield self.head.output(self.head.norm(given))

    def speculation(self) -> dict[str, Any]:
        """Chains."""
        return {"method": "eagle3", "draft_length": self.steps}

    def stored(self, directory: Path) -> dict[str, Tensor]:
        """Read a head in any of its public layouts."""
        return read_tensors(directory, module_names(tensor_names(directory)))

    def export(self, directory: Path, weights: dict[str, Tensor]) -> None:
        """Write config.json and model.safetensors as SafeAILab/EAGLE names them."""
        export(directory, self._config(), published_names(weights))

    def _config(self) -> dict[str, Any]:
        config = self.head.config
        kept = (
            *("hidden_size", "intermediate_size", "num_attention_heads"),
            *("num_key_value_heads", "head_dim", "hidden_act", "rms_norm_eps"),
            *("max_position_embeddings", "rope_parameters", "vocab_size"),
            *("bos_token_id", "eos_token_id", "pad_token_id"),
        )
        return {
            "architectures": ["LlamaForCausalLMEagle3"],
            "model_type": "llama",
            **{key: getattr(config, key) for key in kept},
            "rope_theta": config.rope_parameters["rope_theta"],
            "num_hidden_layers": 1,
            "draft_vocab_size": self.head.layout.drafted,
            "target_hidden_size": self.target.hidden_size,
            "eagle_config": {
                "eagle_aux_hidden_state_layer_ids": list(self.layers),
                "use_aux_hidden_state": True,
            },
            "eagle_aux_hidden_state_layer_ids": list(self.layers),
            "tie_word_embeddings": False,
            "torch_dtype": "bfloat16",
        }


def _require_llama(target: Target) -> None:
    if target.config.model_type != "llama":
        raise UsageError(
            f"the target is of the kind {target.config.model_type}",
            where="--target",
            allowed="llama, for EAGLE-3 heads that are made here",
            action="fit another kind of drafter, or train a head with SpecForge",
        )


def _layer_config(target: Target) -> LlamaConfig:
    values = target.config.to_dict()
    values |= {"num_hidden_layers": 1, "attn_implementation": "sdpa"}
    return LlamaConfig.from_dict(values)


@torch.no_grad()
def begin_from_target(head: Eagle3Head, target: Target, ids: Tensor) -> None:
    """Copy the target's last layer, norm and LM head into a new head.

    The fusion passes the highest captured state through; the attention reads the state
    as the target's last layer does, and the embedding not at all.
    """
    width = target.hidden_size
    offsets = ids - torch.arange(len(ids))
    head.d2t.copy_(offsets)
    head.t2d[ids] = True
    head.lm_head.weight.copy_(target.output_weight[ids.to(target.device)])
    norm: Any = head.norm
    norm.weight.copy_(target.final_norm_weight)
    fusion: Tensor = head.fc.weight
    fusion.normal_(std=0.02 / width**0.5)
    fusion[:, -width:] += torch.eye(width)
    last: Any = decoder_layers(target.model)[-1]
    layer: nn.Module = head.layers[0]
    own = layer.state_dict()
    for name, tensor in last.state_dict().items():
        if own[name].shape == tensor.shape:
            own[name].copy_(tensor)
        else:  # q, k and v read [embedding; state]
            own[name].normal_(std=0.02 / width**0.5)
            own[name][:, -width:] += tensor
    own["hidden_norm.weight"].copy_(last.input_layernorm.weight)
    own["input_layernorm.weight"].fill_(1.0)
