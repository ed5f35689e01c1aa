"""What a converted checkpoint's JSON files say: its dtype, and not where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trtspec.models.json_file import read_json_object

CONFIG = "config.json"
GENERATION_CONFIG = "generation_config.json"
TOKENIZER_CONFIG = "tokenizer_config.json"

_FROM_WHERE = frozenset(
    {
        "_name_or_path",
        "_model_name_or_path",
        "name_or_path",
        "is_local",
        "local_files_only",
        "tokenizer_file",
        "special_tokens_map_file",
        "cache_dir",
        "_commit_hash",
        "_from_model_config",
    }
)
"""Keys that say where a checkpoint was loaded from, not what it is."""


def normalise(directory: Path, dtype: str) -> None:
    """State the dtype, drop where the files came from, write JSON in one form."""
    config = read_json_object(directory / CONFIG)
    _set_dtype(config, dtype)
    write_json(directory / CONFIG, _without_origin(config))
    for name in (GENERATION_CONFIG, TOKENIZER_CONFIG):
        if (directory / name).is_file():
            content = read_json_object(directory / name)
            write_json(directory / name, _without_origin(content))


def _set_dtype(config: dict[str, Any], dtype: str) -> None:
    config["dtype"] = dtype
    for section in (config, *(v for v in config.values() if isinstance(v, dict))):
        for key in ("dtype", "torch_dtype"):
            if key in section:
                section[key] = dtype


def _without_origin(content: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in content.items() if key not in _FROM_WHERE}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write an object with sorted keys, so that equal content is equal bytes."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
