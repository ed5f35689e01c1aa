"""Requests to an engine in this process: what is in flight, when, and how it fails."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, prompts
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess
from trtspec.bench.outcome import Failed, Outcome, Pass
from trtspec.bench.records import Load
from trtspec.errors import RunError, UsageError
from trtspec.run import SamplingParams, StepResult

ONE = Load(concurrency=1)


def calls(count: int, **changes) -> list[Call]:
    return [
        Call(p.id, p, 5, changes.pop("sampling", SamplingParams()), **changes)
        for p in prompts(count)
    ]


def run(runner: FakeRunner, asked: list[Call], load: Load = ONE, **more) -> Pass:
    driver = InProcess(runner, clock=runner.clock, sleep=runner.clock.sleep)
    return driver.run(asked, load, **more)


def closed(concurrency: int) -> Load:
    return Load(concurrency=concurrency)


def test_one_in_flight_waits_for_each_request():
    runner = FakeRunner()
    result = run(runner, calls(3))
    # prefill 0.5 and 2 steps of 1.25 seconds each
    assert result.wall_seconds == 3 * 3.0
    assert set(runner.in_flight_seen) == {1}
    assert [o.sent_at - result.started_at for o in result.answered] == [0.0, 3.0, 6.0]
    assert [o.due_at for o in result.answered] == [o.sent_at for o in result.answered]


def test_outcomes_come_in_the_order_of_the_calls():
    runner = FakeRunner(
        output_of=lambda request: list(range(9 - len(request.prompt))),
    )
    result = run(runner, calls(6), closed(3))
    assert [o.request_id for o in result.outcomes] == [c.id for c in calls(6)]
    assert [o.output_tokens for o in result.answered] == [8, 7, 6, 5, 4, 3]


@pytest.mark.parametrize("concurrency", [1, 2, 4])
def test_concurrency_is_kept_while_requests_are_left(concurrency):
    runner = FakeRunner()
    run(runner, calls(8), closed(concurrency))
    assert max(runner.in_flight_seen) == concurrency
    last_full = max(i for i, n in enumerate(runner.in_flight_seen) if n == concurrency)
    assert set(runner.in_flight_seen[:last_full]) == {concurrency}


def test_a_finished_request_is_replaced_before_the_next_step():
    runner = FakeRunner(
        output_of=lambda request: [1] if request.id == "p1" else [1] * 9
    )
    run(runner, calls(3), closed(2))
    # p1 ends with its prefill; p3 is in flight at the very next step
    assert runner.in_flight_seen[:3] == [2, 2, 2]


def test_an_outcome_holds_every_chunk_and_every_step():
    (outcome,) = run(FakeRunner(), calls(1)).answered
    start = outcome.sent_at
    assert [(t - start, n) for t, n in outcome.chunks] == [
        (0.5, 1),
        (1.75, 2),
        (3.0, 2),
    ]
    assert (outcome.ttft, outcome.e2e, outcome.tpot) == (0.5, 3.0, 0.625)
    assert (outcome.steps, outcome.drafted, outcome.accepted) == (2, 6, 2)
    assert outcome.draft_steps == ((3, 3, 1), (3, 3, 1))
    assert outcome.tokens is not None
    assert len(outcome.tokens) == outcome.output_tokens == 5


def test_an_engine_that_tells_sums_only_has_no_single_steps():
    (outcome,) = run(FakeRunner(tells_steps=False), calls(1)).answered
    assert outcome.steps == 2
    assert outcome.draft_steps is None


def test_a_runner_that_streams_no_ids_still_has_first_and_last_times():
    class Textual(FakeRunner):
        def _emit(self, running, count):
            chunk = super()._emit(running, count)
            return type(chunk)(chunk.request_id, (), "x", chunk.time, chunk.completion)

    (outcome,) = run(Textual(), calls(1)).answered
    assert outcome.chunks == ((100.5, None), (103.0, None))
    assert outcome.tpot == 0.625


def test_all_steps_are_recorded():
    result = run(FakeRunner(), calls(2))
    assert result.records is not None
    assert [r.kind for r in result.records] == ["prefill", "decode", "decode"] * 2
    assert sum(r.emitted for r in result.records) == 10


def test_each_answer_is_told_once():
    seen = []
    run(FakeRunner(), calls(4), closed(2), on_answer=lambda: seen.append(1))
    assert len(seen) == 4


def test_a_call_becomes_a_request_with_all_it_asks_for():
    runner = FakeRunner()
    sampling = SamplingParams(0.7, 3, 0.9, 11)
    run(runner, calls(1, sampling=sampling, speculate=False, ignore_end=True))
    (request,) = runner.submitted
    assert (request.prompt, request.max_new_tokens) == ((1,), 5)
    assert (request.sampling, request.speculate) == (sampling, False)
    assert request.ignore_eos


def test_an_open_loop_sends_when_due_and_not_when_answered():
    """At 1 request per second and 3 seconds each, up to three are in flight."""
    runner = FakeRunner()
    result = run(runner, calls(4), Load(arrivals="fixed", rate=1.0))
    due = [o.due_at - result.started_at for o in result.answered]
    assert due == [0.0, 1.0, 2.0, 3.0]
    assert max(runner.in_flight_seen) > 1


def test_latencies_of_an_open_loop_count_from_the_time_due():
    """A step that takes 1.25 s makes the client late; that must not be hidden."""
    result = run(FakeRunner(), calls(2), Load(arrivals="fixed", rate=1.0))
    second = result.answered[1]
    assert second.due_at - result.started_at == 1.0
    # prefill until 0.5, then a step until 1.75
    assert second.sent_at - second.due_at == pytest.approx(0.75)
    assert second.ttft == pytest.approx(second.chunks[0][0] - second.due_at)


def test_an_idle_open_loop_sleeps_until_the_next_is_due():
    runner = FakeRunner()
    result = run(runner, calls(3), Load(arrivals="fixed", rate=0.1))
    assert [o.sent_at - result.started_at for o in result.answered] == [0, 10, 20]
    assert set(runner.in_flight_seen) == {1}


def failed(result: Pass) -> dict[str, str]:
    return {o.request_id: o.what for o in result.failed}


def test_a_cancelled_request_is_failed_and_the_others_are_not():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p2")
    result = run(runner, calls(4), closed(2))
    assert failed(result) == {"p2": "was cancelled"}
    assert len(result.answered) == 3
    assert not runner.busy


def test_a_refused_request_is_failed_with_the_reason():
    class Refusing(FakeRunner):
        def submit(self, request):
            if request.id == "p3":
                raise UsageError("the prompt is too long")
            super().submit(request)

    result = run(Refusing(), calls(4), closed(2))
    assert failed(result) == {"p3": "was refused: the prompt is too long"}


def test_a_request_without_output_is_failed():
    class Mute(FakeRunner):
        def _prefill(self):
            return StepResult((self._leave(self.waiting[0], ()),))

    result = run(Mute(output_of=lambda request: []), calls(1))
    assert failed(result) == {"p1": "emitted no token"}


def test_drafting_in_the_off_arm_is_a_failure():
    class Disobedient(FakeRunner):
        def _leave(self, running, tokens):
            running.completion.drafted = 3
            return super()._leave(running, tokens)

    result = run(Disobedient(), calls(1, speculate=False))
    assert failed(result) == {"p1": "drafted 3 tokens although speculation was off"}


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("CUDA out of memory"), "CUDA out of memory"),
        (MemoryError(), "MemoryError"),
        (RunError("bad step"), "bad step"),
    ],
)
def test_an_engine_failure_fails_all_that_was_not_answered(error, words):
    def fail(runner):
        if runner.clock.now > 103:
            raise error

    result = run(FakeRunner(before_advance=fail), calls(3))
    assert isinstance(result.outcomes[0], Outcome)
    assert failed(result) == dict.fromkeys(("p2", "p3"), f"the engine failed: {words}")


def test_a_lost_request_is_a_failure_and_no_endless_loop():
    runner = FakeRunner(before_advance=lambda r: r.waiting.clear())
    assert failed(run(runner, calls(1)))["p1"].startswith("was lost")


def test_a_runner_with_earlier_work_is_refused():
    runner = FakeRunner()
    driver = InProcess(runner, clock=runner.clock)
    driver.run(calls(1), ONE)
    runner.submit(runner.submitted[0])
    with pytest.raises(RunError, match="busy with earlier requests"):
        driver.run(calls(1), ONE)


def test_ctrl_c_is_not_taken_for_a_failure_and_leaves_the_runner_idle():
    def interrupt(runner):
        runner.before_advance = lambda r: None
        raise KeyboardInterrupt

    runner = FakeRunner(before_advance=interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(runner, calls(1))
    assert not runner.busy


def test_a_prompt_without_ids_cannot_run_here():
    textual = BenchPrompt("t", "", ({"role": "user", "content": "x"},))
    with pytest.raises(RunError, match="prompt t: the prompt has no token ids"):
        run(FakeRunner(), [Call("t", textual, 5, SamplingParams())])


def test_conditions_are_json_whatever_the_engine_says():
    class Odd(FakeRunner):
        def conditions(self):
            return {"device": object, "threads": 2}

    said = InProcess(Odd()).conditions()
    assert said == {"device": str(object), "threads": 2}


def test_outcomes_are_failed_or_answered():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p1")
    result = run(runner, calls(2))
    assert [type(o) for o in result.outcomes] == [Failed, Outcome]
