"""Which token has which id, and whether two models agree about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from trtspec.models.token_forms import form_of, text_of
from trtspec.models.token_list import listed_tokens

_SHOWN = 5

Kind = Literal["conflict", "only_ours", "only_theirs", "renamed", "spelled"]
"""How an id differs: two tokens; a token on one side; two names of a special token; two
spellings of one text, such as Ġthe and ▁the."""


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
    :param ids: the differing ids of each kind, in order.
    :param examples: the first few of each kind, with both strings.
    """

    entries: tuple[int, int]
    differing: int = 0
    ids: Mapping[Kind, tuple[int, ...]] = field(default_factory=dict)
    examples: Mapping[Kind, tuple[TokenDifference, ...]] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether every id stands for the same string in both."""
        return self.differing == 0

    @property
    def same_tokens(self) -> bool:
        """Whether no id stands for one token here and for another there.

        Entries that one side lacks, and other spellings and names, are no mismatch.
        """
        return not self.ids.get("conflict")

    def count(self, *kinds: Kind) -> int:
        """Give the number of ids that differ in one of these ways."""
        return sum(len(self.ids.get(kind, ())) for kind in kinds)


def token_map(directory: Path) -> dict[str, int] | None:
    """Read token → id from ``tokenizer.json``, ``vocab.json`` or a GGUF.

    :returns: None if no file lists the tokens (a SentencePiece model alone).
    :raises UsageError: if a file that should list them is damaged.
    """
    listed = listed_tokens(directory)
    return None if listed is None else dict(listed.tokens)


def compare_vocabularies(
    ours: Mapping[str, int],
    theirs: Mapping[str, int],
    special: tuple[Collection[str], Collection[str]] = ((), ()),
) -> VocabularyMatch:
    """Compare two token → id maps, id by id.

    :param special: the special tokens of each. One that has another name in the other
        vocabulary, which has no token of its name, counts as renamed.
    """
    if ours == theirs:
        count = len(set(ours.values()))
        return VocabularyMatch((count, count))
    a, b = _by_id(ours), _by_id(theirs)
    entries = (len(a), len(b))
    differing = sorted(i for i in a.keys() | b.keys() if a.get(i) != b.get(i))
    ids: dict[Kind, list[int]] = {}
    for index, kind in _kinds(differing, a, b, (ours, theirs), special):
        ids.setdefault(kind, []).append(index)
    examples = {
        kind: tuple(TokenDifference(i, a.get(i), b.get(i)) for i in found[:_SHOWN])
        for kind, found in ids.items()
    }
    found = {kind: tuple(of_kind) for kind, of_kind in ids.items()}
    return VocabularyMatch(entries, len(differing), found, examples)


def _kinds(
    differing: Iterable[int],
    a: Mapping[int, str],
    b: Mapping[int, str],
    maps: tuple[Mapping[str, int], Mapping[str, int]],
    special: tuple[Collection[str], Collection[str]],
) -> Iterator[tuple[int, Kind]]:
    ours, theirs = maps
    forms = form_of(ours), form_of(theirs)
    for index in differing:
        left, right = a.get(index), b.get(index)
        if left is None or right is None:
            yield index, "only_theirs" if left is None else "only_ours"
        elif forms[0] != forms[1] and (
            text_of(left, forms[0]) == text_of(right, forms[1])
        ):
            yield index, "spelled"
        elif (
            left in special[0]
            and right in special[1]
            and (left not in theirs and right not in ours)
        ):
            yield index, "renamed"
        else:
            yield index, "conflict"


def _by_id(tokens: Mapping[str, int]) -> dict[int, str]:
    return {index: token for token, index in tokens.items()}
