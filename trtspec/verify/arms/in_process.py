"""An arm that is an engine in this process, with drafting on or off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess, request_of
from trtspec.bench.outcome import Outcome
from trtspec.bench.records import Load
from trtspec.errors import Problem, RunError
from trtspec.methods import Method
from trtspec.run import Runner, TokenLogprob, generate
from trtspec.verify.arm import Answer, Question

Alternatives = tuple[tuple[int | str, float], ...]
ALTERNATIVES = 5
"""Log-probabilities at each place, as many as OpenAI's completions tell at most."""


class RunnerArm:
    """Asks one runner; an ``Arm``.

    :param speculate: False asks the engine to decode without drafting; if it drafts
        all the same, ``answer`` fails.
    :param speculation: parameters of the artifact's method; None for the recipe's.
    :param logprobs: log-probabilities of so many tokens at each place; None for none,
        and only backend reference has them.
    """

    def __init__(
        self,
        name: str,
        runner: Runner,
        *,
        speculate: bool,
        speculation: Method | None = None,
        logprobs: int | None = None,
    ) -> None:
        self.name = name
        self.runner = runner
        self.speculate = speculate
        self._logprobs = logprobs
        self._speculation = speculation
        self._driver = InProcess(runner)

    @property
    def most_at_once(self) -> int:
        """How many requests really run at once."""
        return self.runner.max_running

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all questions; see ``Arm``."""
        if self._logprobs is not None:
            return self._answer_telling(questions)
        calls = [self._call(question) for question in questions]
        done = self._driver.run(calls, Load(concurrency=concurrency))
        if done.failed:
            raise RunError.from_problems(
                Problem(f"arm {self.name}: the request {f.what}", f.request_id)
                for f in done.failed
            )
        return {o.request_id: _answer(o) for o in done.answered}

    def _answer_telling(self, questions: Sequence[Question]) -> dict[str, Answer]:
        """Answer with log-probabilities, at the runner's own concurrency."""
        asked = [
            replace(request_of(self._call(question)), logprobs=self._logprobs)
            for question in questions
        ]
        told: dict[str, list[Alternatives]] = {one.id: [] for one in asked}
        found = {}
        for chunk in generate(self.runner, asked):
            told[chunk.request_id] += [_alternatives(one) for one in chunk.logprobs]
            if done := chunk.completion:
                found[done.request_id] = Answer(
                    id=done.request_id,
                    tokens=tuple(done.tokens),
                    text=done.text,
                    finish=done.finish_reason,
                    drafted=done.drafted,
                    accepted=done.accepted,
                    logprobs=tuple(told[done.request_id]),
                    steps=done.steps,
                )
        return found

    def _call(self, question: Question) -> Call:
        prompt = BenchPrompt(question.id, "", (), self._tokens(question))
        return Call(
            id=question.id,
            prompt=prompt,
            output_tokens=question.max_tokens,
            sampling=question.sampling,
            speculate=self.speculate,
            speculation=self._speculation,
        )

    def _tokens(self, question: Question) -> tuple[int, ...]:
        if question.messages:
            return self.runner.encode_chat(question.messages)
        if isinstance(question.prompt, str):
            return self.runner.encode(question.prompt)
        return question.prompt


def _alternatives(told: TokenLogprob) -> Alternatives:
    """Give the likeliest tokens and the chosen one, the likeliest first."""
    rows = dict([*told.top, (told.token, told.logprob)])
    return tuple(sorted(rows.items(), key=lambda row: -row[1]))


def _answer(outcome: Outcome) -> Answer:
    return Answer(
        id=outcome.request_id,
        tokens=outcome.tokens,
        text=outcome.text,
        finish=outcome.finish_reason,
        drafted=outcome.drafted,
        accepted=outcome.accepted,
        steps=outcome.steps,
    )
