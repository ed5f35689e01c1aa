"""Which facts trtspec needs to know about a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trtspec.methods.quantization import Quantization
from trtspec.models.layer_kinds import SLIDING, UNCACHED
from trtspec.models.parts import WHOLE, Parts

DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
"""Bytes of one value in the types that weights can be converted to."""

CACHE_BYTES = {**DTYPE_BYTES, "fp8": 1, "int8": 1}
"""Bytes of one value in the types that a KV cache can have, whole bytes only."""

FLOATS = frozenset({"float64", *DTYPE_BYTES})
"""Stored types that these can be made from without knowing the model."""

Format = Literal["safetensors", "gguf", "torch"]
"""How weights are stored; "torch" is pickled files, which are never opened here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """What a checkpoint's configuration says.

    :param family: ``model_type`` of the configuration, such as ``llama``.
    :param architecture: model class, such as ``LlamaForCausalLM``; the family in a
        GGUF, which names no class.
    :param heads: attention heads; 0 in a family without attention, as are
        ``kv_heads`` and ``head_size``.
    :param head_size: values per attention head.
    :param vocabulary_rows: rows of the embedding, which may be padded.
    :param context_length: tokens the model was made for; None if it names no limit.
    :param sliding_window: tokens a sliding-window layer looks back; None without one.
    :param layer_types: kind of each layer, such as ``full_attention``; empty if the
        configuration does not list them.
    :param implied_kinds: the same by other keys and by the family's defaults, where the
        configuration lists none; empty if nothing tells.
    :param quantization: ``none``, or the method the stored weights are quantized with.
    :param alibi: whether the attention has biases instead of position encodings.
    :param rope_theta: base of the rotary position encoding; None if the configuration
        names none, or has one per kind of layer.
    :param rope_scaling: how that encoding is stretched, such as ``llama3``; None if it
        is not.
    :param rope_factor: by how much; None if that is not named.
    :param published_quantization: the same as a recipe's word for it; None if it has
        none, such as for blocks of FP8.
    :param published_kv_cache: type of the KV cache that the weights were quantized for,
        such as ``fp8``; None if the checkpoint names none.
    :param next_token_heads: heads for further tokens (MTP) that come with it.
    :param latent_size: values that multi-head latent attention (MLA) caches per token
        and layer; None in a model with another attention.
    :param mask_token: id of the token that a PARD draft model proposes for; None if the
        configuration names none.
    :param own_code: ``model_type`` of a configuration that names Python code of the
        checkpoint's own, empty if it has no type; None if it names no code.
    """

    family: str
    architecture: str
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    hidden_size: int
    intermediate_size: int | None
    vocabulary_rows: int
    context_length: int | None
    tied_embeddings: bool
    sliding_window: int | None = None
    layer_types: tuple[str, ...] = ()
    implied_kinds: tuple[str, ...] = ()
    quantization: str = "none"
    alibi: bool = False
    own_code: str | None = None
    rope_theta: float | None = None
    rope_scaling: str | None = None
    rope_factor: float | None = None
    published_quantization: Quantization | None = "none"
    published_kv_cache: str | None = None
    next_token_heads: int = 0
    latent_size: int | None = None
    mask_token: int | None = None

    @property
    def told_kinds(self) -> tuple[str, ...]:
        """Kind of each layer, as far as it is told; empty if nothing tells."""
        return (self.layer_types or self.implied_kinds)[: self.layers]

    @property
    def cached_layers(self) -> int:
        """Layers that cache something of each token: all not told to be others."""
        return self.layers - sum(kind in UNCACHED for kind in self.told_kinds)

    @property
    def windowed_layers(self) -> int:
        """Layers that look back ``sliding_window`` tokens only.

        All of them where a window is all that is told.
        """
        if not self.sliding_window:
            return 0
        told = self.told_kinds
        return told.count(SLIDING) if told else self.layers

    @property
    def cached_values(self) -> int:
        """Values that a layer caches of a token: keys and values, or their latent."""
        if self.latent_size is not None:
            return self.latent_size
        return 2 * self.kv_heads * self.head_size

    def kv_bytes_per_token(self, dtype: str) -> int:
        """Bytes that one token takes in the KV cache, on one GPU, in all layers.

        Layers with a recurrent state take none, those with a sliding window as much as
        the others: that they drop what left it is up to who runs the model.

        :param dtype: type of the cache, a key of ``CACHE_BYTES``.
        """
        return self.cached_layers * self.cached_values * CACHE_BYTES[dtype]

    def windowed_bytes_per_token(self, dtype: str) -> int:
        """Bytes of these that a cache need not keep beyond ``sliding_window`` tokens.

        :param dtype: type of the cache, a key of ``CACHE_BYTES``.
        """
        return self.windowed_layers * self.cached_values * CACHE_BYTES[dtype]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo(ModelShape):
    """What a checkpoint is: its shape, and what its weights and tokenizer hold.

    :param tokenizer_entries: tokens that the tokenizer can give; None if the tokenizer
        files do not list them.
    :param highest_token: the highest id among them, which may lie beyond the rows even
        if there are fewer entries than rows; None if they are not listed.
    :param dtype: type that most weight bytes are stored in: ``bfloat16``, ..., or the
        block type of a quantized GGUF, such as ``q4_1``.
    :param parameters: elements of all weights, tied ones counted once; of packed
        quantized weights, the stored elements; in format ``torch`` an estimate, from
        ``weight_bytes`` and ``dtype``.
    :param weight_bytes: bytes of all weights as they are stored; in format ``torch``
        what the index says, or the size of the file.
    :param directory: where the checkpoint is; takes no part in comparisons.
    :param stored_next_token_heads: heads for further tokens that are among the tensors,
        whatever the configuration says; None if the tensors' names are not known.
    :param next_token_parts: modules that these heads lack, or have beside their own.
    """

    tokenizer_entries: int | None
    dtype: str
    parameters: int
    weight_bytes: int
    format: Format
    directory: Path | None = field(default=None, compare=False)
    highest_token: int | None = None
    stored_next_token_heads: int | None = None
    next_token_parts: Parts = WHOLE

    @property
    def lacks_rows(self) -> bool:
        """Whether the tokenizer can give an id that the embedding has no row for."""
        return (
            self.highest_token is not None
            and self.highest_token >= self.vocabulary_rows
        )

    def weight_bytes_in(self, dtype: str) -> int:
        """Bytes that the weights take once they are converted to ``dtype``."""
        return self.parameters * DTYPE_BYTES[dtype]
