"""Which tokens a checkpoint's tokenizer files list, and which of them are special."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import TOKENS, find_gguf
from trtspec.models.json_file import read_json_object


@dataclass(frozen=True, slots=True)
class ListedTokens:
    """What a tokenizer's files list.

    :param tokens: token → id, added tokens included.
    :param special: those that stand for no text, such as an end token.
    :param start: tokens that encoding puts before a text; None if that is not told.
    """

    tokens: Mapping[str, int]
    special: frozenset[str] = frozenset()
    start: tuple[str, ...] | None = None


def listed_tokens(directory: Path) -> ListedTokens | None:
    """Read what ``tokenizer.json``, ``vocab.json`` or a GGUF lists.

    :returns: None if no file lists the tokens (a SentencePiece model alone).
    :raises UsageError: if a file that should list them is damaged.
    """
    if (path := directory / "tokenizer.json").is_file():
        status = path.stat()
        return _known(path, status.st_mtime_ns, status.st_size)
    if (path := directory / "vocab.json").is_file():
        tokens = _checked(path, read_json_object(path))
        added = directory / "added_tokens.json"
        if added.is_file():
            more = _checked(added, read_json_object(added))
            return ListedTokens(tokens | more, frozenset(more))
        return ListedTokens(tokens)
    if gguf := find_gguf(directory):
        status = gguf.stat()
        return _known_gguf(gguf, status.st_mtime_ns, status.st_size)
    return None


_MERGES = re.compile(r'"merges"\s*:\s*\[')
"""Where the last part of a file of BPE begins: no token, whose value is a number."""
_END = re.compile(r"\]\s*\}\s*\}\s*\Z")
_END_LENGTH = 200

_READ: dict[bytes, ListedTokens] = {}
"""Hash of a file's content → what it lists: two models mostly have the same file."""
_MOST_READ = 2


@lru_cache(maxsize=4)  # a check needs it several times, and large ones take 0.2 s
def _known(path: Path, _changed: int, _size: int) -> ListedTokens:
    digest = hashlib.blake2b(path.read_bytes()).digest()
    if digest not in _READ:
        listed = _from_tokenizer(path)
        if len(_READ) >= _MOST_READ:
            _READ.clear()
        _READ[digest] = listed
    return _READ[digest]


def _from_tokenizer(path: Path) -> ListedTokens:
    whole = _read(path)
    model, added = whole.get("model"), whole.get("added_tokens") or []
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    tokens: dict[Any, Any]
    if isinstance(vocabulary, list):  # Unigram: [[token, score], ...] in order of ids
        tokens = {
            _text(path, entry[0], index): index
            for index, entry in enumerate(_pairs(path, vocabulary))
        }
    elif isinstance(vocabulary, dict):
        tokens = vocabulary
    else:
        raise _unreadable(path, "has no model.vocab")
    special = set()
    for entry in added if isinstance(added, list) else [added]:
        if not isinstance(entry, dict):
            raise _unreadable(path, f"has the added token {entry!r}")
        token = _text(path, entry.get("content"), entry.get("id"))
        tokens[token] = entry.get("id")
        if entry.get("special") is True:
            special.add(token)
    start = _start(whole.get("post_processor"))
    return ListedTokens(_checked(path, tokens), frozenset(special), start)


def _read(path: Path) -> dict[str, Any]:
    """Read all but the merges: half of a large file, and of no token do they tell."""
    with suppress(ValueError, RecursionError):  # what is wrong, the whole reading says
        text = path.read_text(encoding="utf-8")
        merges = _MERGES.search(text)
        if merges and _END.search(text, max(merges.end(), len(text) - _END_LENGTH)):
            whole = json.loads(text[: merges.end()] + "]}}")
            model = whole.get("model") if "added_tokens" in whole else None
            if isinstance(model, dict) and "vocab" in model:
                return dict(whole)
    return read_json_object(path)


def _start(processor: object) -> tuple[str, ...] | None:
    """Give what a template processor puts before a single text."""
    if not isinstance(processor, dict):
        return None
    if isinstance(inner := processor.get("processors"), list):
        found = (_start(each) for each in inner)
        return next((start for start in found if start is not None), None)
    if not isinstance(pieces := processor.get("single"), list):
        return None
    start = []
    for piece in pieces:
        name = piece.get("SpecialToken") if isinstance(piece, dict) else None
        if not isinstance(name, dict):
            break
        start.append(str(name.get("id")))
    return tuple(start)


def _pairs(path: Path, entries: list[Any]) -> Iterator[list[Any]]:
    for entry in entries:
        if not (isinstance(entry, list) and entry):
            raise _unreadable(path, f"has the vocabulary entry {entry!r}")
        yield entry


@lru_cache(maxsize=2)  # decoding a hundred thousand strings takes a while
def _known_gguf(path: Path, _changed: int, _size: int) -> ListedTokens | None:
    fields = read_gguf(path, decode=frozenset({TOKENS, _TYPES})).fields
    tokens, types = fields.get(TOKENS), fields.get(_TYPES)
    if not isinstance(tokens, list):
        return None
    kinds = types if isinstance(types, list) else []
    return ListedTokens(
        _checked(path, {token: index for index, token in enumerate(tokens)}),
        frozenset(
            token
            for token, kind in zip(tokens, kinds, strict=False)
            if kind == _CONTROL
        ),
    )


_TYPES = "tokenizer.ggml.token_type"
_CONTROL = 3
"""Type of a token that stands for no text (gguf-py/gguf/constants.py, TokenType)."""


def _checked(path: Path, tokens: Mapping[Any, Any]) -> dict[str, int]:
    for token, index in tokens.items():
        if type(index) is not int or type(token) is not str or index < 0:
            raise _no_token(path, token, index)
    return dict(tokens)


def _text(path: Path, token: object, index: object) -> str:
    if not isinstance(token, str):
        raise _no_token(path, token, index)
    return token


def _no_token(path: Path, token: object, index: object) -> UsageError:
    return _unreadable(path, f"gives the token {token!r} the id {index!r}")


def _unreadable(path: Path, what: str) -> UsageError:
    return UsageError(what, where=str(path), action="fetch the tokenizer files again")
