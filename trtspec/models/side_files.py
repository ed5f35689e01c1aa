"""Whether the JSON files beside a model's weights are what loaders take them for."""

from __future__ import annotations

from pathlib import Path

from trtspec.models.json_file import read_json_object

_READ_BY_LOADERS = (
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.json",
)
"""transformers reads each of them as one object, and fails on another value."""


def require_side_files(directory: Path) -> None:
    """Refuse a checkpoint with a damaged file that nothing here would look into.

    Files that are not there are no fault: many checkpoints lack some.

    :raises UsageError: naming the first one that is no JSON object.
    """
    for name in _READ_BY_LOADERS:
        if (directory / name).is_file():
            read_json_object(directory / name)
