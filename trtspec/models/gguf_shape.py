"""What the fields of a GGUF file say about a model's shape."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from trtspec.errors import UsageError
from trtspec.models.families import WITHOUT_ATTENTION
from trtspec.models.gguf import GgufHeader, LongArray
from trtspec.models.info import ModelShape
from trtspec.models.tensor_header import stored_dtype

TOKENS = "tokenizer.ggml.tokens"
_DIGITS = 6  # stored as float32
_PLAIN = {"float32", "float16", "bfloat16", "float64"}


def find_gguf(directory: Path) -> Path | None:
    """Give a directory's one GGUF file; None if it has none.

    :raises UsageError: if there are several to choose from.
    """
    found = sorted(directory.glob("*.gguf"))
    if len(found) > 1:
        raise UsageError(
            f"holds {len(found)} GGUF files: {found[0].name}, {found[1].name}"
            + (", ..." if len(found) > 2 else ""),
            where=str(directory),
            allowed="one GGUF file per directory, not split",
            action="put the wanted file into a directory of its own",
        )
    return found[0] if found else None


def gguf_shape(path: Path, header: GgufHeader) -> ModelShape:
    """Read a causal LM's shape from a GGUF header.

    :raises UsageError: if a fact is missing, or it is not a causal language model.
    """
    facts = _Facts(path, header, _family(path, header))
    attends = facts.family not in WITHOUT_ATTENTION
    heads = facts.required("attention.head_count") if attends else 0
    hidden_size = facts.required("embedding_length")
    quantization = _quantization(header)
    scaling = _scaling(facts)
    return ModelShape(
        family=facts.family,
        architecture=facts.family,
        layers=facts.required("block_count"),
        heads=heads,
        kv_heads=facts.optional("attention.head_count_kv") or heads,
        head_size=facts.optional("attention.key_length")
        or (heads and hidden_size // heads),
        hidden_size=hidden_size,
        intermediate_size=facts.optional("feed_forward_length"),
        vocabulary_rows=_vocabulary_rows(path, header),
        context_length=facts.optional("context_length"),
        tied_embeddings="output.weight" not in header.tensors,
        sliding_window=facts.optional("attention.sliding_window"),
        rope_theta=facts.real("rope.freq_base"),
        rope_scaling=scaling,
        rope_factor=facts.real("rope.scaling.factor") if scaling else None,
        quantization=quantization,
        published_quantization="none" if quantization == "none" else None,
    )


def token_count(header: GgufHeader) -> int | None:
    """Give the number of tokenizer entries; None if the file has no tokenizer."""
    tokens = header.fields.get(TOKENS)
    if isinstance(tokens, LongArray):
        return tokens.count
    return len(tokens) if isinstance(tokens, list) else None


@dataclass(frozen=True, slots=True)
class _Facts:
    path: Path
    header: GgufHeader
    family: str

    def optional(self, name: str) -> int | None:
        value = self.header.fields.get(f"{self.family}.{name}")
        if isinstance(value, list) and len(set(value)) == 1:
            value = value[0]  # some writers repeat the number for each layer
        if value is None or value == 0:
            return None
        if isinstance(value, int) and value > 0:
            return value
        raise UsageError(
            f"{self.family}.{name} is {value!r}",
            where=str(self.path),
            allowed="one whole number for all layers",
        )

    def real(self, name: str) -> float | None:
        """Give a number above 0; None if there is none."""
        value = self.header.fields.get(f"{self.family}.{name}")
        known = isinstance(value, float) and isfinite(value) and value > 0
        return round(value, _DIGITS) if isinstance(value, float) and known else None

    def required(self, name: str) -> int:
        if (value := self.optional(name)) is not None:
            return value
        raise UsageError(
            f"has no field {self.family}.{name}",
            where=str(self.path),
            action="fetch the file again, or convert the original checkpoint anew",
        )


def _scaling(facts: _Facts) -> str | None:
    """Give the type of the rotary scaling, in transformers' words.

    llama3's is no type there: its frequencies are stored as a tensor
    (gguf-py/gguf/constants.py, ``ROPE_FREQS``).
    """
    if "rope_freqs.weight" in facts.header.tensors:
        return "llama3"
    named = facts.header.fields.get(f"{facts.family}.rope.scaling.type")
    return named if isinstance(named, str) and named not in ("none", "") else None


def _family(path: Path, header: GgufHeader) -> str:
    family = header.fields.get("general.architecture")
    kind = header.fields.get("general.type", "model")
    if (
        isinstance(family, str)
        and kind == "model"
        and not family.startswith("t5")
        and header.fields.get(f"{family}.attention.causal", True)
    ):
        return family
    raise UsageError(
        f"{path.name} is no causal language model: {family or 'nameless'} {kind}",
        where=str(path.parent),
        allowed="a decoder-only model",
    )


def _vocabulary_rows(path: Path, header: GgufHeader) -> int:
    embedding = header.tensors.get("token_embd.weight")
    if embedding is None or not embedding.shape:
        raise UsageError(
            f"{path.name} has no token_embd.weight",
            where=str(path.parent),
            action="give a complete model; a LoRA or a projector is none",
        )
    return embedding.shape[0]


def _quantization(header: GgufHeader) -> str:
    dtype = stored_dtype(header.tensors.values())
    return "none" if dtype in _PLAIN else dtype
