"""Whether a text is random tokens put together, where no token ids are known.

Such a text consists of pieces of words (so it is not a key, a hash or base64) that
hardly ever come twice, not even the short ones that hold every language and every
program together. From a vocabulary of many languages it mixes scripts within a line.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from trtspec.bench.doubts.random_ids import Random

FEWEST_WORDS = 120
"""Of one prompt; shorter ones are judged together."""

DIFFERENT = 0.88
"""Different words / words. The prompts of Spec-Bench (arXiv 2401.07851) have 0.78 at
most; random tokens of SmolLM2 0.98. A list of names is above as well, and then is one
of a few prompts, or has the same request around it in each."""

COMMONEST = 10
COVER = 0.10
"""Share of all words that the 10 most common cover: 0.19 and more in the same prompts,
0.06 and less in random tokens, but for the shortest."""

VOWELS = 0.28
"""Share of vowels among letters: 0.31 and more in the same prompts, and in random
tokens; 12 of 52, 0.23, in base64."""

LATIN = 0.7
"""Share of a text's letters. Other scripts are not judged by words: not all of them
put spaces between words."""

SCRIPTS = 4
SCRIPT_SHARE = 0.04
"""A text mixes this many scripts, each with at least this share of its letters."""

FEWEST_LETTERS = 100

_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{2,}")
_VOWELS = frozenset("aeiouyAEIOUY")


def random_by_text(texts: Sequence[str]) -> Random:
    """Count the texts that look like random tokens.

    :param texts: of each prompt what was said last.
    """
    mixed = sum(map(_mixes_scripts, texts))
    words = [_words(text) for text in texts]
    long = [found for found in words if len(found) >= FEWEST_WORDS]
    short = [found for found in words if 0 < len(found) < FEWEST_WORDS]
    never = [found for found in long if _never_repeats(found)]
    together = [word for found in short for word in found]
    if len(together) >= FEWEST_WORDS and _never_repeats(together):
        never.extend(short)
    if mixed > len(never):
        return Random(mixed, f"each mixes {SCRIPTS} scripts or more")
    if not never:
        return Random(0)
    seen = [word for found in never for word in found]
    return Random(
        len(never),
        f"{len(set(seen))} different words among {len(seen)}, and the {COMMONEST} most "
        f"common make up {_cover(seen):.0%}",
    )


def _words(text: str) -> list[str]:
    """Give the words of a text in Latin letters; none of any other."""
    letters = sum(map(str.isalpha, text))
    words = _WORD.findall(text)
    return words if sum(map(len, words)) >= LATIN * letters else []


def _never_repeats(words: Sequence[str]) -> bool:
    return (
        len(set(words)) >= DIFFERENT * len(words)
        and _cover(words) <= COVER
        and _vowels(words) >= VOWELS
    )


def _cover(words: Sequence[str]) -> float:
    common = Counter(words).most_common(COMMONEST)
    return sum(count for _, count in common) / len(words)


def _vowels(words: Sequence[str]) -> float:
    letters = [c for word in words for c in word]
    return sum(c in _VOWELS for c in letters) / len(letters)


def _mixes_scripts(text: str) -> bool:
    scripts = Counter(map(_script, filter(str.isalpha, text)))
    letters = scripts.total()
    if letters < FEWEST_LETTERS:
        return False
    present = [count for count in scripts.values() if count >= SCRIPT_SHARE * letters]
    return len(present) >= SCRIPTS


def _script(letter: str) -> str:
    """Name a letter's script: the first word of its Unicode name.

    Kanji, hiragana and katakana are one, since Japanese writes all three.
    """
    if letter.isascii():
        return "LATIN"
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA") else name
