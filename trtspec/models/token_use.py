"""How often each token occurs in texts, counted without loading a tokenizer.

The tokenizers library takes most of a second to load a vocabulary of 150 thousand
tokens, so that words are cut by the longest tokens that match instead. Frequent words
are whole tokens either way; rare ones may be cut elsewhere. Good for shares, not for
lengths.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from trtspec.models.token_forms import Form, form_of, spelled

_MOST_CHARACTERS = 100_000
_LONGEST = 20
"""Characters of the longest token that is looked for."""
_WORD = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?[^\s\w]+|_+|\s+")
"""Letters, figures and signs apart, with the space before, as byte-level BPE has it."""


def token_counts(texts: Iterable[str], tokens: Mapping[str, int]) -> Counter[int]:
    """Count the tokens of texts, up to 100,000 characters of them.

    :param tokens: token → id.
    :returns: id → how often it occurs; what no token stands for is left out.
    """
    form, words, left = form_of(tokens), Counter[str](), _MOST_CHARACTERS
    for text in texts:
        start = (
            " " if form == "pieces" else ""
        )  # SentencePiece writes one before a text
        words.update(_WORD.findall(start + text[:left]))
        left -= len(text)
        if left <= 0:
            break
    counts: Counter[int] = Counter()
    for word, count in words.items():
        for index in _cut(word, form, tokens):
            counts[index] += count
    return counts


def share_of(counts: Mapping[int, int], ids: Collection[int]) -> float | None:
    """Give the share of counted tokens that are among ``ids``; None if none counts."""
    whole = sum(counts.values())
    kept = sum(count for index, count in counts.items() if index in ids)
    return kept / whole if whole else None


def most_emitted(acceptance: float, draft_length: int) -> float:
    """Give tokens per verification step where each position is accepted so often.

    A chain ends at its first rejection: 1 + a + a² + ... + a^K (arXiv 2211.17192).

    :param acceptance: share of positions at which a draft can be right, as if each fell
        independently of the others.
    """
    return sum(acceptance**place for place in range(draft_length + 1))


def _cut(word: str, form: Form, tokens: Mapping[str, int]) -> Iterator[int]:
    whole, place = spelled(word, form), 0
    while place < len(whole):
        ends = range(min(place + _LONGEST, len(whole)), place, -1)
        end = next((end for end in ends if whole[place:end] in tokens), None)
        if end is not None:
            yield tokens[whole[place:end]]
        place = end or place + 1
