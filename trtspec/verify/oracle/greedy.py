"""Whether every token is the reference engine's greedy choice after what stands before.

Parity looks as far as the first difference. Here one forward of the target over prompt
and answer judges each token after the text that it really followed, so nothing is left
out; nothing of the engine under test takes part, not its cache, nor its drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.verify.arm import Answer, Question
from trtspec.verify.greedy.records import Verdict
from trtspec.verify.greedy.shares import Share, share
from trtspec.verify.greedy.tolerance import Tolerance
from trtspec.verify.oracle.logprobs import LogprobArm, judge_logprobs


class Shortfall(Protocol):
    """How far a token's logit is below the largest one, which is given, too."""

    @property
    def gap(self) -> float:
        """Largest logit less that of the token."""
        ...

    @property
    def largest(self) -> float:
        """The largest logit."""
        ...


Score = Callable[[Sequence[int], Sequence[int]], Iterable[Shortfall]]
"""Gives the shortfall of each token of an output after a prompt."""


class WrongToken(Record):
    """A token that the reference engine would not have chosen."""

    prompt_id: str = Field(description="Id of the prompt.")
    position: int = Field(ge=0, description="Index in the output.")
    token: int = Field(description="Its id.")
    gap: float = Field(description="The largest logit there less this token's.")


class OracleArm(Record):
    """One arm's tokens, judged by the reference engine."""

    arm: str = Field(description="Name of the arm.")
    prompts: int = Field(ge=1, description="Answers judged.")
    likeliest: Share = Field(description="Tokens that are the likeliest one.")
    near_ties: Share = Field(description="Tokens below it by a near tie.")
    wrong: Share = Field(description="Tokens below it for real.")
    largest_gap: float = Field(ge=0, description="Largest gap of any token.")
    examples: tuple[WrongToken, ...] = Field(
        description="The wrong tokens with the largest gaps, ten at most."
    )


class Oracle(Record):
    """Greedy tokens of both arms, judged by the reference engine."""

    verdict: Verdict = Field(description="pass, fail or cannot tell.")
    reasons: tuple[str, ...] = Field(description="Why not pass.")
    reference: str = Field(description="What judges: checkpoint, type, libraries.")
    tolerance: Tolerance = Field(description="What counts as a near tie.")
    arms: tuple[OracleArm, ...] = Field(description="The off arm first.")
    logprobs: tuple[LogprobArm, ...] = Field(
        default=(),
        description="Log-probabilities told with the tokens, the off arm's first; "
        "empty: none were told.",
    )


def judge_tokens(  # noqa: PLR0917
    answers: Mapping[str, Mapping[str, Answer]],
    questions: Sequence[Question],
    score: Score,
    tolerance: Tolerance,
    reference: str,
    logprobs: Sequence[LogprobArm] = (),
) -> Oracle:
    """Judge the answers of each arm.

    :param answers: by arm, the off arm first; then by question.
    :param questions: with token ids as prompts.
    :param reference: what scores, in words.
    :param logprobs: what came of the log-probabilities, off first.
    """
    arms = tuple(
        _judged(name, given, questions, score, tolerance)
        for name, given in answers.items()
    )
    verdict, reasons = _verdict(arms)
    if verdict == "pass":  # else it is known already, and better
        verdict, reasons = judge_logprobs(logprobs)
    return Oracle(
        verdict=verdict,
        reasons=reasons,
        reference=reference,
        tolerance=tolerance,
        arms=arms,
        logprobs=tuple(logprobs),
    )


def _judged(
    name: str,
    answers: Mapping[str, Answer],
    questions: Sequence[Question],
    score: Score,
    tolerance: Tolerance,
) -> OracleArm:
    near, total, largest = 0, 0, 0.0
    wrong: list[WrongToken] = []
    for question in questions:
        tokens = answers[question.id].tokens
        if not tokens or isinstance(question.prompt, str):
            raise ValueError(f"{name}: {question.id} has no token ids")
        scores = score(question.prompt, tokens)
        for position, (token, seen) in enumerate(zip(tokens, scores, strict=True)):
            total += 1
            largest = max(largest, seen.gap)
            if seen.gap > tolerance.at(seen.largest):
                found = (question.id, position, token, seen.gap)
                names = ("prompt_id", "position", "token", "gap")
                wrong.append(WrongToken(**dict(zip(names, found, strict=True))))  # type: ignore[arg-type]
            elif seen.gap > 0:
                near += 1
    worst = sorted(wrong, key=lambda one: -one.gap)[:10]
    return OracleArm(
        arm=name,
        prompts=len(questions),
        likeliest=share(total - near - len(wrong), total),
        near_ties=share(near, total),
        wrong=share(len(wrong), total),
        largest_gap=largest,
        examples=tuple(worst),
    )


def _verdict(arms: Sequence[OracleArm]) -> tuple[Verdict, tuple[str, ...]]:
    """The on arm fails, unless off is wrong, too: then it is about the reference."""
    off, *others = arms
    if off.wrong.count:
        return "cannot tell", (
            f"{off.wrong.words} tokens of {off.arm} are not the reference engine's, "
            f"by up to {off.largest_gap:.3g}: the two do not run the same model",
        )
    failed = [arm for arm in others if arm.wrong.count]
    reasons = tuple(
        f"{arm.wrong.words} tokens of {arm.arm} are not the target's choice, by up to "
        f"{arm.largest_gap:.3g}; the first of them: prompt "
        f"{arm.examples[0].prompt_id} at {arm.examples[0].position}"
        for arm in failed
    )
    return ("fail" if failed else "pass"), reasons
