"""Which files of a checkpoint decide what the model does."""

from __future__ import annotations

from pathlib import Path

from trtspec.models.gguf_shape import find_gguf
from trtspec.models.weights import weight_files

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
"""Any one of these makes a tokenizer; a GGUF carries its own."""

_SETTINGS = (
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


def checkpoint_files(directory: Path) -> tuple[Path, ...]:
    """List configuration, tokenizer and the weights that are loaded, sorted by name.

    Other files do not count: README, pickled copies of the weights, other formats.

    :raises UsageError: if the index of sharded weights is damaged, or there are several
        GGUF files to choose from.
    """
    found = {path for pattern in _SETTINGS for path in directory.glob(pattern)}
    weights = weight_files(directory)
    found |= {directory / name for name in weights}
    if not weights and (gguf := find_gguf(directory)):
        found.add(gguf)
    return tuple(sorted(path for path in found if path.is_file()))


def is_complete(directory: Path) -> bool:
    """Whether configuration, tokenizer and every weight file are there.

    :raises UsageError: if the index of sharded weights is damaged.
    """
    weights = weight_files(directory)
    if not weights:
        return find_gguf(directory) is not None
    return (
        (directory / "config.json").is_file()
        and all((directory / name).is_file() for name in weights)
        and any((directory / name).is_file() for name in TOKENIZER_FILES)
    )
