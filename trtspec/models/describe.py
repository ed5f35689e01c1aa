"""What a checkpoint is, read from its configuration and headers, never its weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.config import CONFIG, OUTPUT_WEIGHT, read_config, shape_of
from trtspec.models.drafter_signs import refuse_drafter_as_model
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import find_gguf, gguf_shape, token_count
from trtspec.models.info import DTYPE_BYTES, ModelInfo, ModelShape
from trtspec.models.json_file import read_json_object
from trtspec.models.next_token import stored_next_token_heads
from trtspec.models.next_token_parts import next_token_parts
from trtspec.models.pickled import (
    configured_dtype,
    pickled_bytes,
    pickled_files,
    pickled_names,
    pickled_tensors,
)
from trtspec.models.side_files import require_side_files
from trtspec.models.stored import require_stored_as_described
from trtspec.models.tensor_header import TensorHeader, stored_dtype
from trtspec.models.vocabulary import token_map
from trtspec.models.weights import INDEX, SINGLE, read_tensors


def describe(
    directory: Path, tensors: Mapping[str, TensorHeader] | None = None
) -> ModelInfo:
    """Describe a checkpoint: a transformers directory, or one with a GGUF file.

    Safetensors go before a GGUF, and that before pickled weights. Of the latter, which
    are never opened, ``parameters`` is an estimate: bytes by the dtype that the
    configuration names.

    :param tensors: all of its safetensors, where they were read before.
    :raises UsageError: if the checkpoint is incomplete or damaged, or is not a causal
        language model; the message names the file and what to do.
    """
    if not directory.is_dir():
        raise UsageError(
            f"{str(directory)!r} is not a directory",
            action="give the directory of a checkpoint",
        )
    has_safetensors = any((directory / name).is_file() for name in (SINGLE, INDEX))
    gguf = None if has_safetensors else find_gguf(directory)
    if gguf:
        return _describe_gguf(gguf)
    if not has_safetensors and pickled_files(directory):
        return _describe_pickled(directory)
    return _describe_safetensors(directory, tensors)


def _describe_safetensors(
    directory: Path, known: Mapping[str, TensorHeader] | None
) -> ModelInfo:
    config = _config(directory)
    tensors = read_tensors(directory) if known is None else dict(known)
    refuse_drafter_as_model(directory, config, tensors)
    shape = shape_of(directory, config, tensors)
    require_stored_as_described(directory / CONFIG, config, shape, tensors)
    if shape.tied_embeddings:
        _drop_second_embedding(tensors)
    return ModelInfo(
        **_facts(shape),
        **_tokens(directory),
        format="safetensors",
        directory=directory,
        stored_next_token_heads=stored_next_token_heads(tensors),
        next_token_parts=next_token_parts(tensors),
        **_sizes(tensors.values()),
    )


def _describe_pickled(directory: Path) -> ModelInfo:
    config = _config(directory)
    refuse_drafter_as_model(directory, config, pickled_tensors(directory))
    shape = shape_of(directory, config, pickled_names(directory))
    dtype = configured_dtype(directory / CONFIG, config)
    weight_bytes = pickled_bytes(directory)
    return ModelInfo(
        **_facts(shape),
        **_tokens(directory),
        dtype=dtype,
        parameters=weight_bytes // DTYPE_BYTES[dtype],
        weight_bytes=weight_bytes,
        format="torch",
        directory=directory,
    )


def _config(directory: Path) -> dict[str, Any]:
    """Read the configuration of what runs by itself."""
    refuse_drafter_as_model(directory, read_json_object(directory / CONFIG), {})
    require_side_files(directory)
    return read_config(directory)


def _tokens(directory: Path) -> dict[str, Any]:
    """Count the ids of the tokenizer, and give the highest."""
    tokens = token_map(directory)
    if not tokens:
        return {"tokenizer_entries": None if tokens is None else 0}
    ids = set(tokens.values())
    return {"tokenizer_entries": len(ids), "highest_token": max(ids)}


def _drop_second_embedding(tensors: dict[str, TensorHeader]) -> None:
    """Forget the output weight where the embedding it is tied to is stored too."""
    output = tensors.get(OUTPUT_WEIGHT)
    if output and [t.shape for t in tensors.values()].count(output.shape) > 1:
        del tensors[OUTPUT_WEIGHT]


def _describe_gguf(path: Path) -> ModelInfo:
    header = read_gguf(path)
    entries = token_count(header)
    return ModelInfo(
        **_facts(gguf_shape(path, header)),
        tokenizer_entries=entries,
        highest_token=entries - 1 if entries else None,
        format="gguf",
        directory=path.parent,
        **_sizes(header.tensors.values()),
    )


def _facts(shape: ModelShape) -> dict[str, Any]:
    return {field.name: getattr(shape, field.name) for field in fields(shape)}


def _sizes(tensors: Iterable[TensorHeader]) -> dict[str, Any]:
    stored = list(tensors)
    return {
        "dtype": stored_dtype(stored),
        "parameters": sum(tensor.elements for tensor in stored),
        "weight_bytes": sum(tensor.nbytes for tensor in stored),
    }
