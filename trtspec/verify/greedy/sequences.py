"""Where two answers part: by token ids, by the texts of tokens, or by text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trtspec.verify.arm import Answer

By = Literal["token ids", "texts of tokens", "text"]


@dataclass(frozen=True, slots=True)
class Parting:
    """The first difference of two answers.

    :param position: index of a token, or of a character of a text.
    :param off: what the off arm has there; None: it had ended.
    :param on: the same of the other arm.
    """

    position: int
    off: int | str | None
    on: int | str | None


def common_way(answers: Sequence[Answer]) -> By:
    """Give the most exact way in which all these answers can be compared."""
    if all(answer.tokens is not None for answer in answers):
        return "token ids"
    if all(answer.pieces is not None for answer in answers):
        return "texts of tokens"
    return "text"


def parts_of(answer: Answer, by: By) -> Sequence[int | str]:
    """Give what is compared of an answer."""
    if by == "token ids":
        return answer.tokens or ()
    return (answer.pieces or ()) if by == "texts of tokens" else answer.text


def parting(off: Answer, on: Answer, by: By) -> Parting | None:
    """Find where two answers part; None if they are the same."""
    ours, theirs = parts_of(off, by), parts_of(on, by)
    for position in range(max(len(ours), len(theirs))):
        one = ours[position] if position < len(ours) else None
        other = theirs[position] if position < len(theirs) else None
        if one != other:
            return Parting(position, one, other)
    return None
