"""The closed loop: what is in flight, in which order, and how it fails."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, prompts
from trtspec.bench.load import closed_loop
from trtspec.errors import RunError, UsageError
from trtspec.run import Request, StepResult


def requests(count: int, **changes) -> list[Request]:
    return [
        Request(**{"id": p.id, "prompt": p.tokens, "max_new_tokens": 5} | changes)
        for p in prompts(count)
    ]


def test_one_in_flight_waits_for_each_request():
    runner = FakeRunner()
    result = closed_loop(runner, requests(3), 1, clock=runner.clock)
    # prefill 0.5 and 2 steps of 1.25 seconds each
    assert result.wall_seconds == 3 * 3.0
    assert set(runner.in_flight_seen) == {1}


def test_completions_come_in_the_order_of_the_requests():
    runner = FakeRunner(
        output_of=lambda request: list(range(9 - len(request.prompt))),
    )
    result = closed_loop(runner, requests(6), 3, clock=runner.clock)
    assert [c.request_id for c in result.completions] == [r.id for r in requests(6)]
    assert [len(c.tokens) for c in result.completions] == [8, 7, 6, 5, 4, 3]


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_concurrency_is_kept_while_requests_are_left(concurrency):
    runner = FakeRunner()
    closed_loop(runner, requests(8), concurrency, clock=runner.clock)
    assert max(runner.in_flight_seen) == concurrency
    last_full = max(i for i, n in enumerate(runner.in_flight_seen) if n == concurrency)
    assert set(runner.in_flight_seen[:last_full]) == {concurrency}


def test_a_finished_request_is_replaced_before_the_next_step():
    runner = FakeRunner(
        output_of=lambda request: [1] if request.id == "p1" else [1] * 9
    )
    closed_loop(runner, requests(3), 2, clock=runner.clock)
    # p1 ends with its prefill; p3 is in flight at the very next step
    assert runner.in_flight_seen[:3] == [2, 2, 2]


def test_all_steps_are_recorded():
    runner = FakeRunner()
    result = closed_loop(runner, requests(2), 1, clock=runner.clock)
    assert [r.kind for r in result.records] == ["prefill", "decode", "decode"] * 2
    assert sum(r.emitted for r in result.records) == 10


def test_each_completion_is_reported_once():
    runner, seen = FakeRunner(), []
    closed_loop(
        runner,
        requests(4),
        2,
        clock=runner.clock,
        on_completion=lambda: seen.append(1),
    )
    assert len(seen) == 4


def test_a_cancelled_request_is_named_and_the_runner_left_idle():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p2")
    with pytest.raises(RunError, match="request p2: was cancelled"):
        closed_loop(runner, requests(4), 2, clock=runner.clock)
    assert not runner.busy


def test_a_refused_request_is_named_with_the_reason():
    class Refusing(FakeRunner):
        def submit(self, request):
            if request.id == "p3":
                raise UsageError("the prompt is too long")
            super().submit(request)

    runner = Refusing()
    with pytest.raises(RunError, match="request p3: was refused: the prompt is too"):
        closed_loop(runner, requests(4), 2, clock=runner.clock)
    assert not runner.busy


def test_a_request_without_output_is_named():
    class Mute(FakeRunner):
        def _prefill(self):
            return StepResult((self._leave(self.waiting[0], ()),))

    runner = Mute(output_of=lambda request: [])
    with pytest.raises(RunError, match="request p1: emitted no token"):
        closed_loop(runner, requests(1), 1, clock=runner.clock)


def test_drafting_in_the_off_arm_is_an_error():
    class Disobedient(FakeRunner):
        def _leave(self, running, tokens):
            running.completion.drafted = 3
            return super()._leave(running, tokens)

    runner = Disobedient()
    with pytest.raises(RunError, match="p1: drafted 3 tokens with speculation off"):
        closed_loop(runner, requests(1, speculate=False), 1, clock=runner.clock)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("CUDA out of memory"), "CUDA out of memory"),
        (MemoryError(), "MemoryError"),
        (RunError("bad step"), "bad step"),
    ],
)
def test_an_engine_failure_names_what_was_in_flight(error, words):
    def fail(runner):
        if runner.clock.now > 102:
            raise error

    runner = FakeRunner(before_advance=fail)
    with pytest.raises(RunError, match=f"request p1, p2: the engine failed: {words}"):
        closed_loop(runner, requests(2), 2, clock=runner.clock)


def test_a_lost_request_is_an_error_and_no_endless_loop():
    runner = FakeRunner(before_advance=lambda r: r.waiting.clear())
    with pytest.raises(RunError, match="request p1: was lost"):
        closed_loop(runner, requests(1), 1, clock=runner.clock)


def test_a_runner_with_earlier_work_is_refused():
    runner = FakeRunner()
    runner.submit(requests(1)[0])
    with pytest.raises(RunError, match="busy with earlier requests"):
        closed_loop(runner, requests(1), 1, clock=runner.clock)


def test_ctrl_c_is_not_taken_for_a_failure():
    def interrupt(runner):
        raise KeyboardInterrupt

    runner = FakeRunner(before_advance=interrupt)
    with pytest.raises(KeyboardInterrupt):
        closed_loop(runner, requests(1), 1, clock=runner.clock)
