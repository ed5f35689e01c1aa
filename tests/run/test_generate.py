"""Requests are driven to their end, or cancelled when nobody listens any more."""

from __future__ import annotations

import pytest

from trtspec.errors import RunError, UsageError
from trtspec.run import Chunk, Completion, Request, StepResult, generate


class Scripted:
    """Emits one token per step for every request; refuses the request ``bad``."""

    def __init__(self):
        self.left: dict[str, int] = {}
        self.cancelled: list[str] = []

    def submit(self, request):
        if request.id == "bad":
            raise UsageError("too long")
        self.left[request.id] = request.max_new_tokens

    def cancel(self, request_id):
        if self.left.pop(request_id, None) is not None:
            self.cancelled.append(request_id)

    @property
    def busy(self):
        return bool(self.left)

    def advance(self):
        chunks = []
        for name in list(self.left):
            self.left[name] -= 1
            end = Completion(name, 1, [0]) if self.left[name] == 0 else None
            chunks.append(Chunk(name, (0,), "x", 0.0, end))
            if end:
                del self.left[name]
        return StepResult(tuple(chunks))


def requests(*names, tokens=3):
    return [Request(name, (1,), tokens) for name in names]


def test_every_request_is_finished():
    chunks = list(generate(Scripted(), requests("a", "b")))
    assert len(chunks) == 6
    assert [c.request_id for c in chunks if c.completion] == ["a", "b"]


def test_a_refused_request_leaves_nothing_running():
    runner = Scripted()
    with pytest.raises(UsageError):
        list(generate(runner, requests("a", "bad", "b")))
    assert not runner.busy
    assert runner.cancelled == ["a"]


def test_an_interrupt_cancels_what_is_still_running():
    runner = Scripted()
    chunks = generate(runner, requests("a", "b"))
    next(chunks)
    with pytest.raises(KeyboardInterrupt):
        chunks.throw(KeyboardInterrupt)
    assert runner.cancelled == ["a", "b"]


class Failing(Scripted):
    """Fails in its second step, and then whenever it is asked to cancel."""

    def __init__(self):
        super().__init__()
        self.steps = 0

    def advance(self):
        self.steps += 1
        if self.steps == 2:
            raise RunError("the engine died")
        return super().advance()

    def cancel(self, request_id):
        raise RunError("it takes no cancellation")


def test_an_error_while_cancelling_does_not_hide_the_first_one():
    chunks = generate(Failing(), requests("a", "b"))
    with pytest.raises(RunError, match="the engine died"):
        list(chunks)


def test_an_error_while_cancelling_is_told_if_it_is_the_first_one():
    chunks = generate(Failing(), requests("a", "b"))
    next(chunks)
    with pytest.raises(RunError, match="takes no cancellation"):
        chunks.close()
