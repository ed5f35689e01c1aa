"""What of an answer is compared: token ids, or short pieces of text where none are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from trtspec.verify.arm import Answer

Symbol = int | str
END = ""
"""Stands at every place behind the end of an answer."""

_ALONE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_PIECE = re.compile(rf"\s*(?:[{_ALONE}]|[^\W{_ALONE}]+|[^\w\s])|\s+$")
"""A word, a sign, or a character of a script without spaces; spaces before it."""


def symbols_of(answer: Answer, places: int, *, as_text: bool) -> tuple[Symbol, ...]:
    """Give the first symbols of an answer; ``END`` fills up what is missing.

    :param places: how many.
    :param as_text: pieces of the text, whether or not there are token ids.
    """
    found: Sequence[Symbol]
    if as_text or answer.tokens is None:
        found = _PIECE.findall(answer.text)
    else:
        found = answer.tokens
    kept = tuple(found[:places])
    return kept + (END,) * (places - len(kept))


def only_text(answers: Iterable[Answer]) -> bool:
    """Whether any answer has no token ids: then all are compared as text."""
    return any(answer.tokens is None for answer in answers)
