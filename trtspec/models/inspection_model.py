"""What is said of a model's shape, vocabulary, context, cache and next-token layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import find_gguf
from trtspec.models.info import DTYPE_BYTES, ModelInfo, ModelShape
from trtspec.models.inspection_facts import Fact
from trtspec.models.inspection_quantization import is_quantized
from trtspec.models.json_file import read_json_object
from trtspec.models.next_token import next_token_prefixes, stored_next_token_heads
from trtspec.models.parts import WHOLE, Parts
from trtspec.models.stored_record import StoredFiles, attempt

_ATTENDING = ("full_attention", "sliding_attention", "attention", "chunked_attention")
_GGUF_TEMPLATE = "tokenizer.chat_template"


def model_facts(
    shape: ModelShape, info: ModelInfo | None, stored: StoredFiles | None
) -> tuple[Fact, ...]:
    """Tell of a model's shape, vocabulary, context and cache.

    :param info: None if the checkpoint is not whole.
    :param stored: None if it is not on this machine.
    """
    facts = [
        Fact("family", f"{shape.family} ({shape.architecture})", shape.family),
        _layers(shape),
        Fact("hidden_size", f"{shape.hidden_size}", shape.hidden_size),
        *_vocabulary(shape, info),
        _context(shape),
        *_cache(shape),
    ]
    if stored is not None and stored.format != "gguf":
        facts += _next_token(shape, stored, info.next_token_parts if info else WHOLE)
    if info is not None and info.directory is not None:
        facts.append(_chat_template(info.directory))
    return tuple(facts)


def kv_bytes_per_token(shape: ModelShape, dtype_bytes: int) -> int:
    """Bytes of one token in the KV cache: latent ones where the attention has them.

    Layers with a recurrent state in place of keys and values take none per token.
    """
    types = shape.layer_types
    layers = sum(kind in _ATTENDING for kind in types) if types else shape.layers
    if shape.latent_size is not None:
        return layers * shape.latent_size * dtype_bytes
    return 2 * layers * shape.kv_heads * shape.head_size * dtype_bytes


def _layers(shape: ModelShape) -> Fact:
    attention = (
        f"latent attention of {shape.latent_size} values"
        if shape.latent_size
        else f"{shape.heads} heads of {shape.head_size}, {shape.kv_heads} key-value "
        "heads"
    )
    kinds = sorted(set(shape.layer_types))
    text = f"{shape.layers}; {attention}"
    if len(kinds) > 1:
        counted = (f"{shape.layer_types.count(kind)} {kind}" for kind in kinds)
        text += f"; {', '.join(counted)}"
    value = {
        "count": shape.layers,
        "heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "head_size": shape.head_size,
        "latent_size": shape.latent_size,
    }
    return Fact("layers", text, value)


def _vocabulary(shape: ModelShape, info: ModelInfo | None) -> Iterator[Fact]:
    rows = shape.vocabulary_rows
    entries = None if info is None else info.tokenizer_entries
    text = f"{rows} rows"
    if entries is not None:
        text += f", {entries} tokenizer entries"
        if entries < rows:
            text += f" ({rows - entries} rows of padding)"
        elif entries > rows:
            text += f" ({entries - rows} entries without a row)"
    tied = "the LM head is the embedding" if shape.tied_embeddings else "own LM head"
    yield Fact("vocabulary", f"{text}; {tied}", {"rows": rows, "entries": entries})


def _context(shape: ModelShape) -> Fact:
    parts = [str(shape.context_length or "no limit named")]
    if shape.rope_theta is not None:
        parts.append(f"rotary base {shape.rope_theta:g}")
    if shape.rope_scaling is not None:
        parts.append(f"scaled: {shape.rope_scaling}")
    if shape.sliding_window is not None:
        parts.append(f"sliding window {shape.sliding_window}")
    value = {
        "tokens": shape.context_length,
        "rope_theta": shape.rope_theta,
        "rope_scaling": shape.rope_scaling,
        "sliding_window": shape.sliding_window,
    }
    return Fact("context", "; ".join(parts), value)


def _cache(shape: ModelShape) -> Iterator[Fact]:
    whole = kv_bytes_per_token(shape, DTYPE_BYTES["bfloat16"])
    half = kv_bytes_per_token(shape, 1)
    yield Fact(
        "kv_bytes_per_token",
        f"{whole:,} in bfloat16, {half:,} in fp8",
        {"bfloat16": whole, "fp8": half},
    )


def _next_token(shape: ModelShape, stored: StoredFiles, parts: Parts) -> Iterator[Fact]:
    """Tell of next-token layers: what is configured, what is stored, whether packed."""
    names = {*stored.tensors, *stored.missing_tensors, *stored.names}
    count = stored_next_token_heads(names)
    said = shape.next_token_heads
    if not count and not said:
        return
    prefixes = next_token_prefixes(names)
    packed = is_quantized(stored.tensors, prefixes) if prefixes else None
    text = f"{count} stored, config.json says {said}"
    if packed is not None:
        text += "; quantized" if packed else "; not quantized"
    for what, names_of in (("lack", parts.missing), ("hold also", parts.left_over)):
        if names_of:
            more = f" and {len(names_of) - 1} more" if len(names_of) > 1 else ""
            text += f"; they {what} {names_of[0]}{more}"
    value = {
        "stored": count,
        "configured": said,
        "quantized": packed,
        "missing": list(parts.missing),
        "left_over": list(parts.left_over),
    }
    yield Fact("next_token_layers", text, value)


def _chat_template(directory: Path) -> Fact:
    """Tell where the chat template is, if there is one."""
    for name in ("chat_template.jinja", "chat_template.json"):
        if (directory / name).is_file():
            return Fact("chat_template", name, name)
    path = directory / "tokenizer_config.json"
    settings = attempt(lambda: read_json_object(path), []) or {}
    inside = settings.get("chat_template") is not None
    found = path.name if inside else None
    if found is None and (gguf := attempt(lambda: find_gguf(directory), [])):
        header = attempt(lambda: read_gguf(gguf), [])
        has = header is not None and _GGUF_TEMPLATE in header.fields
        found = gguf.name if has else None
    return Fact("chat_template", found or "none", found)
