"""What the oracle is shown: greedy answers, and texts behind which tokens are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trtspec.cli.verify_oracle import Ids, Judged
from trtspec.cli.verify_subject import Subject
from trtspec.run import SamplingParams
from trtspec.verify.arm import Answer
from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.collect import Prompts
from trtspec.verify.greedy.parity import Parity
from trtspec.verify.greedy.tolerance import Tolerance, tolerance_for
from trtspec.verify.oracle import Oracle, judge_tokens
from trtspec.verify.oracle.logprobs import LogprobArm, compare_logprobs
from trtspec.verify.oracle.positions import Position, choose_positions
from trtspec.verify.oracle.sampled import Judge
from trtspec.verify.oracle.symbols import Symbols

TOLD_PROMPTS = 8
"""Prompts that are asked once more for their log-probabilities."""


def judge_greedy(subject: Subject, judge: Judged, parity: Parity) -> Oracle | None:
    """Judge greedy answers, and the log-probabilities told with them.

    :returns: None if their tokens are not known as ids.
    """
    symbols = _symbols(judge, parity)
    tolerance = _tolerance(subject, parity)
    questions = [replace(q, prompt=judge.ids(q)) for q in subject.questions]
    answers: dict[str, dict[str, Answer]] = {}
    for name, given in (("off", parity.off), (subject.on.name, parity.on)):
        known = _as_ids(given, symbols)
        if known is None:
            return None
        answers[name] = known
    return judge_tokens(
        answers,
        questions,
        judge.score,
        tolerance,
        judge.words,
        _logprobs(subject, judge, parity),
    )


def other_prompts(subject: Subject, judge: Judged, parity: Parity) -> str:
    """Say where a server read more or fewer tokens than the checkpoint's template has.

    :returns: empty if nowhere, as far as it is told.
    """
    for question in subject.questions:
        read, ours = parity.off[question.id].prompt_tokens, len(judge.ids(question))
        if read not in (None, ours):
            return (
                f"the server reads {read} tokens of prompt {question.id}, where the "
                f"checkpoint's tokenizer and chat template make {ours}: they are not "
                "of one model"
            )
    return ""


def _as_ids(given: Mapping[str, Answer], symbols: Symbols) -> dict[str, Answer] | None:
    """Give answers with token ids, found by their text where it is told token by token.

    :returns: None if not even a beginning is known of one of them.
    """
    found = {}
    for name, answer in given.items():
        ids = symbols.ids(answer)
        if not ids:
            return None
        found[name] = replace(answer, tokens=ids)
    return found


def _symbols(judge: Judged, parity: Parity) -> Symbols:
    """Tell tokens apart by id where both arms give ids, else by text."""
    answers = [*parity.off.values(), *parity.on.values()]
    known = all(one.tokens is not None for one in answers)
    return judge.symbols if known else judge.by_text()


def _tolerance(subject: Subject, parity: Parity) -> Tolerance:
    return tolerance_for(
        subject.dtype, subject.dtype_from, parity.record.tolerance.spread
    )


def _logprobs(subject: Subject, judge: Judged, parity: Parity) -> list[LogprobArm]:
    """Compare what arms tell already, or ask those that tell when they are asked."""
    chosen = subject.questions[:TOLD_PROMPTS]
    prompts = {q.id: judge.ids(q) for q in chosen}
    told = [("off", parity.off), (subject.on.name, parity.on)]
    if subject.telling is not None:
        told = [
            (arm.name, arm.answer(chosen, subject.most_at_once))
            for arm in subject.telling
        ]
    elif not any(answer.logprobs for _, some in told for answer in some.values()):
        return []
    tolerance = _tolerance(subject, parity)
    names = {
        type(name)
        for _, some in told
        for answer in some.values()
        for row in answer.logprobs or ()
        for name, _ in row
    }
    symbols = judge.by_text() if str in names else judge.symbols
    return [
        compare_logprobs(name, some, prompts, judge.said, symbols, tolerance)
        for name, some in told
    ]


def positions_for(
    subject: Subject, judge: Judged, parity: Parity, sampling: SamplingParams
) -> tuple[Position, ...]:
    """Choose texts behind which the target is uncertain.

    A chat cannot be asked to go on with an answer: there it is the prompts themselves.
    """
    known = _as_ids(parity.off, _symbols(judge, parity))
    if known is None:
        return ()
    most = None if subject.continues else 1
    prompts = {q.id: judge.ids(q) for q in subject.questions}
    answers = {name: (known[name].tokens or ())[:most] for name in prompts}
    after = judge.after(sampling, 0.0)

    def sureness(prompt: Ids, output: Ids) -> list[float]:
        paths = [output[:end] for end in range(len(output))]
        if not paths:
            return []
        return [float(one.p.max()) for one in after(prompt, paths)]

    return choose_positions(prompts, answers, sureness, subject.longest)


def prompts_for(subject: Subject, positions: Sequence[Position]) -> Prompts:
    """Give what is asked at each position: its text, or its whole conversation."""
    if subject.continues:
        return {one.id: one.text for one in positions}
    questions = {question.id: question for question in subject.questions}
    return {one.id: questions[one.prompt_id] for one in positions}


def reference_for(subject: Subject, judge: Judged, parity: Parity, plan: Plan) -> Judge:
    """Give what judges sampled tokens under a plan's sampling."""
    symbols = _symbols(judge, parity)
    wobble = _tolerance(subject, parity).at() / 2
    return Judge(
        words=judge.words,
        symbols=symbols,
        after=judge.after(plan.sampling, wobble),
        compared="pieces of text" if symbols.by_text else "token ids",
    )
