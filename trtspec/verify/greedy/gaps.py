"""What the off arm's gap is where an answer parts from its own: from which source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trtspec.verify.arm import Answer, Question
from trtspec.verify.greedy.records import Difference, Kind, Source
from trtspec.verify.greedy.sequences import By, Parting, parting
from trtspec.verify.greedy.tolerance import USUAL_LOGIT, Tolerance

Alternatives = tuple[tuple[int | str, float], ...]


class Logits(Protocol):
    """Logits of two tokens after one text."""

    @property
    def one(self) -> float:
        """Logit of the first."""
        ...

    @property
    def other(self) -> float:
        """Logit of the other."""
        ...


class Scorer(Protocol):
    """Gives the off arm's logits: the reference engine can."""

    def pair(self, text: Sequence[int], one: int, other: int) -> Logits:
        """Give the logits of two continuations of a text."""
        ...

    def spread(
        self, prompt: Sequence[int], output: Sequence[int], width: int
    ) -> list[float]:
        """Give how far gaps move if a text is read ``width`` tokens at a time."""
        ...


@dataclass(frozen=True, slots=True)
class Gap:
    """How far the other arm's token is below the off arm's.

    :param at_least: whether it is only known to be larger.
    :param logit: size of the logits; None where only probabilities are known.
    """

    value: float
    source: Source
    at_least: bool = False
    logit: float | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Classes differences by the off arm's gap.

    :param scorer: gives logits; None where the off arm cannot be scored.
    :param drifts: answers of the off arm at other batch sizes, by prompt.
    """

    tolerance: Tolerance
    scorer: Scorer | None = None
    drifts: dict[str, list[Answer]] | None = None

    def judge(
        self, question: Question, off: Answer, on: Answer, by: By, at: Parting
    ) -> Difference:
        """Say what a difference is."""
        gap = self._gap(question, off, on, by, at)
        kind, limit = self._kind(gap)
        source: Source = gap.source if gap else "nothing"
        if kind == "cannot tell" and self._off_did_so(question, off, by, at):
            kind, source = "near tie", "off itself"
        return Difference(
            prompt_id=question.id,
            position=at.position,
            off=at.off,
            on=at.on,
            kind=kind,
            source=source,
            gap=gap.value if gap else None,
            at_least=bool(gap and gap.at_least),
            tolerance=limit,
        )

    def _kind(self, gap: Gap | None) -> tuple[Kind, float | None]:
        """Class a gap; also give the largest one of a near tie there."""
        if gap is None:
            return "cannot tell", None
        limit = self.tolerance.at(USUAL_LOGIT if gap.logit is None else gap.logit)
        # the off arm's own token may be the lower one after other rounding
        if abs(gap.value) > limit:
            return "divergence", limit
        return ("cannot tell" if gap.at_least else "near tie"), limit

    def _gap(
        self, question: Question, off: Answer, on: Answer, by: By, at: Parting
    ) -> Gap | None:
        return self._from_logits(question, off, by, at) or from_logprobs(
            off, on, by, at
        )

    def _from_logits(
        self, question: Question, off: Answer, by: By, at: Parting
    ) -> Gap | None:
        scorable = by == "token ids" and not isinstance(question.prompt, str)
        if self.scorer is None or not scorable or question.messages:
            return None
        if not isinstance(at.off, int) or not isinstance(at.on, int):
            return None  # one of them ended, with a token that is not told
        shared = (off.tokens or ())[: at.position]
        found = self.scorer.pair((*question.prompt, *shared), at.off, at.on)
        size = max(abs(found.one), abs(found.other))
        return Gap(found.one - found.other, "logits", logit=size)

    def _off_did_so(self, question: Question, off: Answer, by: By, at: Parting) -> bool:
        """Whether the off arm itself took this way at another batch size."""
        seen = (self.drifts or {}).get(question.id, [])
        return any(parting(off, drift, by) == at for drift in seen)


def from_logprobs(off: Answer, on: Answer, by: By, at: Parting) -> Gap | None:
    """Read the gap from the off arm's most likely alternatives.

    Log probabilities differ by as much as the logits that they come from. A token that
    is not among the alternatives is less likely than the last of them.

    :returns: None if the off arm tells none there, or the token is not known.
    """
    place = _place(off, by, at)
    if place is None:
        return None
    index, rest = place
    told = dict((off.logprobs or ())[index])
    chosen = _told(told, _names(off, index))
    if chosen is None:
        return None
    if by == "text":
        other = _begins(told, on.text[at.position - rest :], _names(off, index))
    else:
        other = _told(told, _names(on, index))
    if other is not None:
        return Gap(chosen - other, "logprobs")
    if by == "text" or at.on is None:
        return None  # which token it was is not known
    return Gap(chosen - min(told.values()), "logprobs", at_least=True)


def _place(off: Answer, by: By, at: Parting) -> tuple[int, int] | None:
    """Give the token's index, and of a text how far into it the difference is."""
    index, rest = at.position, 0
    if by == "text":
        index, rest = _token_at(off.pieces or (), at.position)
    return (index, rest) if index < len(off.logprobs or ()) else None


def _token_at(pieces: Sequence[str], character: int) -> tuple[int, int]:
    """Give the token that a character is in, and its place there."""
    for index, piece in enumerate(pieces):
        if character < len(piece):
            return index, character
        character -= len(piece)
    return len(pieces), 0


def _names(answer: Answer, index: int) -> tuple[int | str, ...]:
    """Give what a token may be called among alternatives."""
    ids, texts = answer.tokens or (), answer.pieces or ()
    return (*ids[index : index + 1], *texts[index : index + 1])


def _told(told: dict[int | str, float], names: Sequence[int | str]) -> float | None:
    return next((told[name] for name in names if name in told), None)


def _begins(
    told: dict[int | str, float], text: str, not_these: Sequence[int | str]
) -> float | None:
    """Give the likeliest alternative that a text begins with."""
    fitting = [
        value
        for name, value in told.items()
        if isinstance(name, str)
        and name
        and name not in not_these
        and text.startswith(name)
    ]
    return max(fitting, default=None)
