"""An arm that is an engine in this process, with drafting on or off."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess
from trtspec.bench.outcome import Outcome
from trtspec.bench.records import Load
from trtspec.errors import Problem, RunError
from trtspec.methods import Method
from trtspec.run import Runner
from trtspec.verify.arm import Answer, Question


class RunnerArm:
    """Asks one runner; an ``Arm``.

    :param speculate: False asks the engine to decode without drafting; if it drafts
        all the same, ``answer`` fails.
    :param speculation: parameters of the artifact's method; None for the recipe's.
    """

    def __init__(
        self,
        name: str,
        runner: Runner,
        *,
        speculate: bool,
        speculation: Method | None = None,
    ) -> None:
        self.name = name
        self.runner = runner
        self.speculate = speculate
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
        calls = [self._call(question) for question in questions]
        done = self._driver.run(calls, Load(concurrency=concurrency))
        if done.failed:
            raise RunError.from_problems(
                Problem(f"arm {self.name}: the request {f.what}", f.request_id)
                for f in done.failed
            )
        return {o.request_id: _answer(o) for o in done.answered}

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
