"""Which token has which id, and whether two models agree about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.errors import UsageError
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import TOKENS, find_gguf
from trtspec.models.json_file import read_json_object

_SHOWN = 5


class TokenDifference(NamedTuple):
    """One id that stands for different strings; None where it stands for nothing."""

    id: int
    ours: str | None
    theirs: str | None


@dataclass(frozen=True, slots=True)
class VocabularyMatch:
    """How far two vocabularies give the same ids to the same strings.

    :param entries: number of ids in each.
    :param differing: ids that do not stand for the same string in both.
    :param first: the first few of those.
    """

    entries: tuple[int, int]
    differing: int
    first: tuple[TokenDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether every id stands for the same string in both."""
        return self.differing == 0


def token_map(directory: Path) -> dict[str, int] | None:
    """Read token → id from ``tokenizer.json``, ``vocab.json`` or a GGUF.

    :returns: None if no file lists the tokens (a SentencePiece model alone).
    :raises UsageError: if a file that should list them is damaged.
    """
    if (path := directory / "tokenizer.json").is_file():
        status = path.stat()
        return dict(_from_tokenizer(path, status.st_mtime_ns, status.st_size))
    if (path := directory / "vocab.json").is_file():
        tokens = _checked(path, read_json_object(path))
        added = directory / "added_tokens.json"
        return tokens | (
            _checked(added, read_json_object(added)) if added.is_file() else {}
        )
    if gguf := find_gguf(directory):
        return _from_gguf(gguf)
    return None


def compare_vocabularies(
    ours: Mapping[str, int], theirs: Mapping[str, int]
) -> VocabularyMatch:
    """Compare two token → id maps, id by id."""
    a, b = _by_id(ours), _by_id(theirs)
    entries = (len(a), len(b))
    if a == b:
        return VocabularyMatch(entries, 0, ())
    differences = [
        TokenDifference(index, a.get(index), b.get(index))
        for index in sorted(a.keys() | b.keys())
        if a.get(index) != b.get(index)
    ]
    return VocabularyMatch(entries, len(differences), tuple(differences[:_SHOWN]))


def _by_id(tokens: Mapping[str, int]) -> dict[int, str]:
    return {index: token for token, index in tokens.items()}


@lru_cache(maxsize=2)  # a check needs it twice, and large ones take 0.2 s
def _from_tokenizer(path: Path, _changed: int, _size: int) -> dict[str, int]:
    whole = read_json_object(path)
    model, added = whole.get("model"), whole.get("added_tokens") or []
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    tokens: dict[Any, Any]
    if isinstance(vocabulary, list):  # Unigram: [[token, score], ...] in order of ids
        tokens = {
            entry[0]: index for index, entry in enumerate(_pairs(path, vocabulary))
        }
    elif isinstance(vocabulary, dict):
        tokens = vocabulary
    else:
        raise _unreadable(path, "has no model.vocab")
    for entry in added if isinstance(added, list) else [added]:
        if not isinstance(entry, dict):
            raise _unreadable(path, f"has the added token {entry!r}")
        tokens[entry.get("content")] = entry.get("id")
    return _checked(path, tokens)


def _pairs(path: Path, entries: list[Any]) -> Iterator[list[Any]]:
    for entry in entries:
        if not (isinstance(entry, list) and entry):
            raise _unreadable(path, f"has the vocabulary entry {entry!r}")
        yield entry


def _from_gguf(path: Path) -> dict[str, int] | None:
    tokens = read_gguf(path, decode=frozenset({TOKENS})).fields.get(TOKENS)
    if not isinstance(tokens, list):
        return None
    return _checked(path, {token: index for index, token in enumerate(tokens)})


def _checked(path: Path, tokens: Mapping[Any, Any]) -> dict[str, int]:
    for token, index in tokens.items():
        if type(index) is not int or type(token) is not str or index < 0:
            raise _unreadable(path, f"gives the token {token!r} the id {index!r}")
    return dict(tokens)


def _unreadable(path: Path, what: str) -> UsageError:
    return UsageError(what, where=str(path), action="fetch the tokenizer files again")
