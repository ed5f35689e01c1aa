"""Which files of a checkpoint decide what the model does."""

from __future__ import annotations

from pathlib import Path

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_files import (
    DRAFTER_SETTINGS,
    Loader,
    drafter_weight_files,
)
from trtspec.models.gguf_shape import find_gguf
from trtspec.models.pickled import pickled_files
from trtspec.models.weights import weight_files

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
"""Any one of these makes a tokenizer; a GGUF carries its own."""

SETTINGS = (
    "config.json",
    "generation_config.json",
    "hf_quant_config.json",
    "tokenizer*.json",
    "tokenizer.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
)


def checkpoint_files(
    directory: Path, kind: DrafterKind = "model", loader: Loader = "tensorrt_llm"
) -> tuple[Path, ...]:
    """List configuration, tokenizer and the weights that are loaded, sorted by name.

    Other files do not count: README, pickled copies of safetensors, other formats.
    Pickled weights count where there are neither safetensors nor a GGUF.

    :param kind: what the checkpoint is; a drafter needs no tokenizer.
    :param loader: who loads it, if it is a drafter.
    :raises UsageError: if the index of sharded weights is damaged, or there are several
        GGUF files to choose from.
    """
    settings = SETTINGS if kind == "model" else DRAFTER_SETTINGS
    found = {path for pattern in settings for path in directory.glob(pattern)}
    if kind == "model":
        found |= set(_model_weights(directory))
    else:
        names = drafter_weight_files(directory, kind, loader)
        found |= {directory / name for name in names}
    return tuple(sorted(path for path in found if path.is_file()))


def is_complete(
    directory: Path, kind: DrafterKind = "model", loader: Loader = "tensorrt_llm"
) -> bool:
    """Whether configuration, tokenizer and every weight file are there.

    :param kind: what the checkpoint is; a drafter needs no tokenizer.
    :param loader: who loads it, if it is a drafter.
    :raises UsageError: if the index of sharded weights is damaged.
    """
    if kind == "model":
        weights = _model_weights(directory)
        if len(weights) == 1 and weights[0].suffix == ".gguf":
            return True
        names = TOKENIZER_FILES
        speaks = any((directory / name).is_file() for name in names)
    else:
        named = drafter_weight_files(directory, kind, loader)
        weights, speaks = tuple(directory / name for name in named), True
    return (
        (directory / "config.json").is_file()
        and bool(weights)
        and all(path.is_file() for path in weights)
        and speaks
    )


def _model_weights(directory: Path) -> tuple[Path, ...]:
    if names := weight_files(directory):
        return tuple(directory / name for name in names)
    if gguf := find_gguf(directory):
        return (gguf,)
    return tuple(directory / name for name in pickled_files(directory))
