"""Whether two checkpoints' tokenizers agree: rows, entries, ids and settings apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trtspec.models.json_file import read_json_object
from trtspec.models.token_list import ListedTokens, listed_tokens
from trtspec.models.tokenizer_settings import (
    SettingDifference,
    common_settings,
    compare_settings,
)
from trtspec.models.vocabulary import VocabularyMatch, compare_vocabularies

_CONFIG = "config.json"


@dataclass(frozen=True, slots=True)
class TokenizerVerdicts:
    """How far a target and what drafts for it agree, the target's side first.

    :param rows: ``vocab_size`` of the configurations, padding included; None if not
        told. Other rows alone are padding, and no mismatch.
    :param entries: ids that each tokenizer gives; None if no file lists them. It is
        never compared with the rows of the other side.
    :param ids: which ids stand for other tokens; None if a side lists none.
    :param settings: special tokens, chat template and end tokens that differ.
    :param compared: names of the settings that both tell.
    """

    rows: tuple[int | None, int | None]
    entries: tuple[int | None, int | None]
    ids: VocabularyMatch | None
    settings: tuple[SettingDifference, ...]
    compared: tuple[str, ...] = ()

    @property
    def same_tokens(self) -> bool | None:
        """Whether no id is one token here and another there; None if not known."""
        return None if self.ids is None else self.ids.same_tokens


def compare_tokenizers(target: Path, draft: Path) -> TokenizerVerdicts:
    """Compare the tokenizers of two checkpoints' directories.

    :raises UsageError: if a file of theirs is damaged.
    """
    listed = listed_tokens(target), listed_tokens(draft)
    match = compare_listed(*listed)
    entries = match.entries if match else (_count(listed[0]), _count(listed[1]))
    return TokenizerVerdicts(
        rows=(_rows(target), _rows(draft)),
        entries=entries,
        ids=match,
        settings=compare_settings(target, draft),
        compared=common_settings(target, draft),
    )


def compare_listed(
    ours: ListedTokens | None, theirs: ListedTokens | None
) -> VocabularyMatch | None:
    """Compare what two tokenizers list; None if one of them lists nothing."""
    if ours is None or theirs is None:
        return None
    special = ours.special, theirs.special
    return compare_vocabularies(ours.tokens, theirs.tokens, special)


def _count(listed: ListedTokens | None) -> int | None:
    return None if listed is None else len(set(listed.tokens.values()))


def _rows(directory: Path) -> int | None:
    """Read the rows; configurations of several parts have them under the text's."""
    if not (directory / _CONFIG).is_file():
        return None
    config = read_json_object(directory / _CONFIG)
    inner = config.get("text_config")
    for part in (config, inner if isinstance(inner, dict) else {}):
        if type(size := part.get("vocab_size")) is int:
            return size
    return None
