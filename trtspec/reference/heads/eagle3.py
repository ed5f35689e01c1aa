"""EAGLE-3's head: one layer that drafts on several of the target's hidden states.

arXiv 2503.01840; SafeAILab/EAGLE eagle/model/cnets.py. Variants: TensorRT-LLM
tensorrt_llm/_torch/models/modeling_speculative.py (several layers, one captured state,
normed states fed back) and speculators src/speculators/models/eagle3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.heads.base import (
    HeadOutput,
    Shared,
    cast_weights,
    kept,
    positions_for,
)
from trtspec.reference.heads.eagle3_layout import Eagle3Layout, module_names
from trtspec.reference.heads.eagle3_parts import StoredHead
from trtspec.reference.heads.eagle_config import flat_config, layer_config
from trtspec.reference.heads.eagle_layers import (
    LLAMA,
    QWEN3,
    Surroundings,
    fit_biases,
    make_layers,
    run_layers,
)
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names


class Eagle3Head(nn.Module):
    """Drafts what follows a token from its embedding and the state before it.

    A position is a token together with the state of the position before. Where that
    has been through the target, the state is ``fuse`` of the target's captured states;
    further on it is what the head itself gave, ``HeadOutput.states``. ``forward`` takes
    states of the head's own width only, so the two cannot be confused.
    """

    d2t: Tensor
    t2d: Tensor

    def __init__(
        self,
        config: Any,
        layout: Eagle3Layout,
        *,
        embedding: Shared | None = None,
        lm_head: Shared | None = None,
    ) -> None:
        """Make a head with weights of chance.

        :param config: a ``LlamaConfig`` or ``Qwen3Config`` of the decoder layers.
        :param embedding: the target's, for a head without its own.
        :param lm_head: the target's, for a head without its own.
        """
        super().__init__()
        self.config, self.layout = config, layout
        parts = QWEN3 if config.model_type == "qwen3" else LLAMA
        width, eps = config.hidden_size, config.rms_norm_eps
        captured = layout.captured * layout.target_width
        if layout.has_fusion:
            self.fc = nn.Linear(captured, width, bias=False)
        if layout.fusion_norm == "whole":
            self.input_norm = parts.norm(captured, eps=eps)
        elif layout.fusion_norm == "each":
            norms = [
                parts.norm(layout.target_width, eps=eps) for _ in range(layout.captured)
            ]
            self.fc_norm = nn.ModuleList(norms)
        self.layers = make_layers(
            config, parts, layout.reading, layout.norm_before_residual
        )
        self.norm = parts.norm(width, eps=eps)
        self.rotary = parts.rotary(config)
        if layout.has_embedding:
            self.embed_tokens = nn.Embedding(layout.embedded, width)
        if layout.has_output:
            self.lm_head = nn.Linear(width, layout.drafted, bias=False)
        if layout.has_table:
            self.d2t = nn.Buffer(torch.zeros(layout.drafted, dtype=torch.long))
        if layout.has_mask:
            self.t2d = nn.Buffer(torch.zeros(layout.embedded, dtype=torch.bool))
        # in a tuple, so that the target's modules do not become the head's own
        self._shared = (
            None if layout.has_embedding else embedding,
            None if layout.has_output else lm_head,
        )

    def fuse(self, captured: Tensor) -> Tensor:
        """Make the target's captured states, side by side, one state of the head.

        :param captured: [..., captured * target width].
        :returns: [..., width].
        """
        if self.layout.fusion_norm == "whole":
            captured = self.input_norm(captured)
        elif self.layout.fusion_norm == "each":
            parts = captured.chunk(self.layout.captured, -1)
            pairs = zip(self.fc_norm, parts, strict=True)
            captured = torch.cat([norm(part) for norm, part in pairs], -1)
        return self.fc(captured) if self.layout.has_fusion else captured

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
        """Draft after each position.

        :param input_ids: tokens [rows, n].
        :param attention_mask: additive [rows, 1, n, columns]; None is plainly causal.
        :param position_ids: [rows, n]; None for 0 to n - 1.
        :param past_key_values: cache to extend and to look back on.
        :param use_cache: taken for the sake of the calling convention.
        :param logits_to_keep: columns whose logits are wanted, as in transformers.
        :param states: the state beside each token, [rows, n, width].
        """
        assert states is not None, "a head reads states"
        positions = positions_for(input_ids, position_ids)
        embedded = self.embed(input_ids).to(states.dtype)
        rotation = self.rotary(states, positions)
        around = Surroundings(attention_mask, positions, rotation, past_key_values)
        states = run_layers(self.layers, embedded, states, around)
        if self.layout.feeds_normed:
            states = self.norm(states)
            return HeadOutput(self.output(kept(states, logits_to_keep)), states)
        wanted = self.norm(kept(states, logits_to_keep))
        return HeadOutput(self.output(wanted), states)

    def embed(self, tokens: Tensor) -> Tensor:
        """Give the embedding of ids [...] as [..., width]."""
        shared, _ = self._shared
        embedded: Tensor = (shared or self.embed_tokens)(tokens)
        return embedded

    def output(self, normed: Tensor) -> Tensor:
        """Give logits [..., draft vocabulary] of normed states [..., width]."""
        _, shared = self._shared
        logits: Tensor = (shared or self.lm_head)(normed)
        return logits

    @property
    def known_tokens(self) -> int | None:
        """Rows of its own embedding; None if that is the target's."""
        return self.layout.embedded if self.layout.has_embedding else None

    def vocabulary_for(self, size: int) -> VocabularyMap | None:
        """Map its tokens to a target's, whose logits have ``size`` rows.

        :returns: None if they are the same.
        """
        ids = self.drafted_ids()
        if self.layout.has_table:
            return VocabularyMap(ids, size)
        # without a table only padding rows can be too many
        return None if len(ids) == size else VocabularyMap(ids[:size], size)

    def drafted_ids(self) -> Tensor:
        """Give the target's id of each draft token, int64 [draft vocabulary].

        The table ``d2t`` holds offsets: draft token i is the target's i + d2t[i].
        """
        ids = torch.arange(self.layout.drafted)
        return ids + self.d2t.cpu() if self.layout.has_table else ids


def load_eagle3(directory: Path, setup: DrafterSetup) -> Eagle3Head:
    """Load a head in any of its public layouts.

    :raises RunError: if a tensor is missing, unexpected or of another shape, or the
        head was not made for this target.
    """
    names = module_names(tensor_names(directory))
    tensors = read_tensors(directory, names)
    sizes = layer_config(directory, tensors)
    stored = StoredHead(directory, flat_config(directory), sizes, tensors)
    layout = stored.layout(setup.hidden_size, setup.vocabulary)
    shared = {"embedding": setup.embedding, "lm_head": setup.lm_head}
    head = Eagle3Head(sizes, layout, **shared)
    fit_biases(head, tensors)
    public = {own: name for name, own in names.items()}
    fill(head, tensors, directory, lambda name: public.get(name, name))
    return cast_weights(head, setup.dtype, setup.device)
