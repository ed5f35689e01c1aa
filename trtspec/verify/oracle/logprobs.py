"""Whether the log-probabilities told with greedy tokens are the target's own.

With speculation an engine takes them from the forward that verified a draft, and may
take a neighbour's, or the drafter's. The reference engine gives its own after the same
text; a value counts as wrong if the two differ by more than a near tie of logits does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.verify.arm import Answer
from trtspec.verify.distribution.gtest import Floats
from trtspec.verify.greedy.records import Verdict
from trtspec.verify.greedy.shares import Share, share
from trtspec.verify.greedy.tolerance import Tolerance
from trtspec.verify.oracle.symbols import Symbols

Tokens = tuple[int, ...]


class Said(Protocol):
    """What the reference engine says at each place of an output."""

    @property
    def log(self) -> Floats:
        """Log-probabilities, [tokens, vocabulary]."""
        ...

    @property
    def largest(self) -> Floats:
        """Largest logits, [tokens]."""
        ...


class LogprobArm(Record):
    """One arm's log-probabilities beside the reference engine's."""

    arm: str = Field(description="Name of the arm.")
    values: int = Field(ge=0, description="Log-probabilities compared.")
    wrong: Share | None = Field(
        description="Those that differ by more than the tolerance; null: none was told."
    )
    largest: float = Field(ge=0, description="Largest difference of any.")
    prompt_id: str = Field(default="", description="Where that was: id of the prompt.")
    position: int = Field(default=0, ge=0, description="Index in its output.")


def compare_logprobs(  # noqa: PLR0917
    arm: str,
    answers: Mapping[str, Answer],
    prompts: Mapping[str, Tokens],
    said: Callable[[Tokens, Tokens], Said],
    symbols: Symbols,
    tolerance: Tolerance,
) -> LogprobArm:
    """Compare all that an arm tells.

    :param prompts: token ids of the prompts whose answers are looked at.
    :param said: see ``trtspec.reference.next_tokens.said_of``.
    :param symbols: how alternatives are named: by id, or by text.
    """
    count = wrong = position = 0
    largest, worst = 0.0, ""
    for name, prompt in prompts.items():
        told = answers[name].logprobs
        output = symbols.ids(answers[name])[: len(told or ())]
        if not told or not output:
            continue
        judged = said(prompt, output)
        for place, row in enumerate(told[: len(output)]):
            near = tolerance.at(float(judged.largest[place]))
            for apart in _apart(row, judged.log[place], symbols):
                count += 1
                wrong += apart > near
                if apart > largest:
                    largest, worst, position = apart, name, place
    return LogprobArm(
        arm=arm,
        values=count,
        wrong=share(wrong, count) if count else None,
        largest=largest,
        prompt_id=worst,
        position=position,
    )


def _apart(
    row: Sequence[tuple[int | str, float]], log: Floats, symbols: Symbols
) -> list[float]:
    """Give how far each alternative is from the reference's value.

    What is named by a text that several tokens have is left out.
    """
    found = []
    for name, value in row:
        token = name
        if isinstance(token, str):
            symbol = symbols.by_text.get(token)
            token = -1 if symbol is None else int(symbols.single[symbol])
        if 0 <= token < len(log):
            found.append(abs(value - float(log[token])))
    return found


def judge_logprobs(arms: Sequence[LogprobArm]) -> tuple[Verdict, tuple[str, ...]]:
    """Give a verdict on the on arm's: nothing told is no fault.

    :param arms: off, then on; none where nothing was asked for.
    """
    if not arms or not arms[-1].wrong or not arms[-1].wrong.count:
        return "pass", ()
    off, on = arms[0], arms[-1]
    if off.wrong and off.wrong.count:
        return "cannot tell", (
            f"{off.wrong.words} log-probabilities of {off.arm} are not the reference "
            f"engine's, by up to {off.largest:.3g}: those of {on.arm} say nothing",
        )
    assert on.wrong is not None, "it was looked at above"
    return "fail", (
        f"{on.wrong.words} log-probabilities of {on.arm} are not the target's, by up "
        f"to {on.largest:.3g}: prompt {on.prompt_id} at {on.position}",
    )
