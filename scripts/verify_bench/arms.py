"""Arms over a runner of any backend, in a few lines; see ``trtspec.verify.arm``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from trtspec.methods import Method
from trtspec.run import Completion, Request, Runner, generate
from trtspec.verify.arm import Answer, Question


class RunnerArm:
    """Answers through a runner.

    :param speculate: False for the off arm of a runner that has both.
    :param method: the requests' own speculation, in place of the recipe's.
    :param ignore_eos: go on past end tokens.
    :param around: is entered while the arm answers; a fault lives in it.
    """

    def __init__(
        self,
        name: str,
        runner: Runner,
        *,
        speculate: bool = True,
        method: Method | None = None,
        ignore_eos: bool = False,
        around: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        self.name = name
        self._runner, self._around = runner, around
        self._speculate, self._method = speculate, method
        self._ignore_eos = ignore_eos

    def answer(
        self, questions: Sequence[Question], concurrency: int
    ) -> dict[str, Answer]:
        """Answer all; the runner's slots are the limit."""
        asked = [self._request(one) for one in questions]
        with self._around():
            chunks = list(generate(self._runner, asked))
        done = [one.completion for one in chunks if one.completion]
        return {one.request_id: answer_of(one) for one in done}

    def _request(self, question: Question) -> Request:
        return Request(
            question.id,
            tuple(map(int, question.prompt)),
            question.max_tokens,
            question.sampling,
            ignore_eos=self._ignore_eos,
            speculate=self._speculate,
            speculation=self._method,
        )


def answer_of(done: Completion) -> Answer:
    """Give a completion as an answer."""
    return Answer(
        done.request_id,
        tuple(done.tokens),
        done.text,
        done.finish_reason,
        done.drafted,
        done.accepted,
    )
