"""What is said of a model's shape, vocabulary, context, cache and next-token layers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_settings import CHAT_TEMPLATE
from trtspec.models.gguf_shape import find_gguf
from trtspec.models.info import ModelInfo, ModelShape
from trtspec.models.inspection_facts import Fact
from trtspec.models.inspection_quantization import is_quantized
from trtspec.models.json_file import read_json_object
from trtspec.models.next_token import next_token_prefixes, stored_next_token_heads
from trtspec.models.parts import WHOLE, Parts
from trtspec.models.rope import number_text
from trtspec.models.stored_record import StoredFiles, attempt

_CACHE_TYPES = ("bfloat16", "fp8")


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


def _layers(shape: ModelShape) -> Fact:
    attention = (
        f"latent attention of {shape.latent_size} values"
        if shape.latent_size
        else f"{shape.heads} heads of {shape.head_size}, {shape.kv_heads} key-value "
        "heads"
    )
    kinds = sorted(set(shape.told_kinds))
    text = f"{shape.layers}; {attention}"
    if len(kinds) > 1:
        counted = (f"{shape.told_kinds.count(kind)} {kind}" for kind in kinds)
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
        if info is not None and info.lacks_rows:
            text += f"; id {info.highest_token} has no row: the model fails on it"
    tied = "the LM head is the embedding" if shape.tied_embeddings else "own LM head"
    highest = None if info is None else info.highest_token
    value = {"rows": rows, "entries": entries, "highest_id": highest}
    yield Fact("vocabulary", f"{text}; {tied}", value)


def _context(shape: ModelShape) -> Fact:
    parts = [str(shape.context_length or "no limit named")]
    if shape.rope_theta is not None:
        parts.append(f"rotary base {number_text(shape.rope_theta)}")
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
    whole, half = (shape.kv_bytes_per_token(t) for t in _CACHE_TYPES)
    text = f"{whole:,} in bfloat16, {half:,} in fp8"
    if recurrent := shape.layers - shape.cached_layers:
        text += f"; {recurrent} of {shape.layers} layers cache nothing per token"
    value = {"bfloat16": whole, "fp8": half}
    yield Fact("kv_bytes_per_token", text, value)
    if shape.windowed_layers:
        beyond = [
            shape.kv_bytes_per_token(t) - shape.windowed_bytes_per_token(t)
            for t in _CACHE_TYPES
        ]
        yield Fact(
            "kv_bytes_beyond_window",
            f"{beyond[0]:,} in bfloat16, {beyond[1]:,} in fp8, of each token beyond "
            f"{shape.sliding_window}, if the cache drops what {shape.windowed_layers} "
            f"of {shape.layers} layers no longer see",
            dict(zip(_CACHE_TYPES, beyond, strict=True)),
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
        has = header is not None and CHAT_TEMPLATE in header.fields
        found = gguf.name if has else None
    return Fact("chat_template", found or "none", found)
