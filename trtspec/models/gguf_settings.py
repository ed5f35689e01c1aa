"""How the tokenizer in a GGUF is set up, in the words of transformers' files.

Fields: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (Tokenizer).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import TOKENS
from trtspec.models.token_list import listed_tokens

CHAT_TEMPLATE = "tokenizer.chat_template"
_IDS = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
    "pad_token": "tokenizer.ggml.padding_token_id",
    "unk_token": "tokenizer.ggml.unknown_token_id",
}
"""Key of ``tokenizer_config.json`` → the field that has the id of that token."""
_ADDS_START = "tokenizer.ggml.add_bos_token"


class GgufSettings(NamedTuple):
    """What a GGUF says of its tokenizer.

    :param tokens: key of ``tokenizer_config.json`` → token, of those that are named.
    :param start: what encoding puts before a text, empty for nothing; None if that is
        not told.
    :param template: that a chat is written with; empty if there is none.
    :param end: the id that ends an answer; empty if none is named.
    """

    tokens: Mapping[str, str]
    start: str | None
    template: str
    end: str


def gguf_settings(directory: Path) -> GgufSettings | None:
    """Read a directory's one GGUF; None if it has none, or none with a tokenizer.

    :raises UsageError: if the file is damaged.
    """
    paths = list(directory.glob("*.gguf"))
    if len(paths) != 1:
        return None
    status = paths[0].stat()
    fields = _fields(paths[0], status.st_mtime_ns, status.st_size)
    if TOKENS not in fields:
        return None
    tokens = _named_tokens(directory, fields)
    adds, template = fields.get(_ADDS_START), fields.get(CHAT_TEMPLATE)
    start = None
    if isinstance(adds, bool):
        start = tokens.get("bos_token", "") if adds else ""
    end = fields.get(_IDS["eos_token"])
    return GgufSettings(
        tokens,
        start,
        template.strip() if isinstance(template, str) else "",
        str(end) if type(end) is int else "",
    )


def _named_tokens(directory: Path, fields: Mapping[str, object]) -> dict[str, str]:
    """Give the tokens that have the ids of special ones."""
    listed = listed_tokens(directory)
    tokens: Mapping[str, int] = {} if listed is None else listed.tokens
    ids = {
        name: index
        for name, field in _IDS.items()
        if type(index := fields.get(field)) is int
    }
    wanted = set(ids.values())
    found = {index: token for token, index in tokens.items() if index in wanted}
    return {name: found[index] for name, index in ids.items() if index in found}


@lru_cache(maxsize=4)
def _fields(path: Path, _changed: int, _size: int) -> Mapping[str, object]:
    return read_gguf(path).fields
