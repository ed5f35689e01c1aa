"""An arm around a runner: what it asks, what it answers, when it refuses."""

from dataclasses import replace

import pytest

from tests.bench.fakes import FakeRunner
from trtspec.errors import RunError
from trtspec.run import SamplingParams
from trtspec.verify.arm import Question
from trtspec.verify.arms.in_process import RunnerArm


def ask(runner=None, speculate=True, concurrency=2, asked=None):
    runner = runner or FakeRunner()
    arm = RunnerArm("on", runner, speculate=speculate)
    asked = asked or [Question(f"q{i}", (3, i), 4) for i in range(5)]
    return runner, arm.answer(asked, concurrency)


def test_every_question_is_answered_by_its_id():
    _, answers = ask()
    assert list(answers) == ["q0", "q1", "q2", "q3", "q4"]
    assert answers["q2"].tokens == (5, 6, 7, 8)
    assert answers["q2"].finish == "length"
    # two steps: the second one's draft token would be one too many
    assert (answers["q2"].drafted, answers["q2"].accepted) == (6, 1)


def test_no_more_are_in_flight_than_asked_for():
    runner, _ = ask(concurrency=2)
    assert max(runner.in_flight_seen) == 2
    runner, _ = ask(concurrency=5)
    assert max(runner.in_flight_seen) == 5


def test_off_asks_for_no_drafts():
    runner, answers = ask(speculate=False)
    assert not any(request.speculate for request in runner.submitted)
    assert all(answer.drafted == 0 for answer in answers.values())


def test_an_off_arm_that_drafts_all_the_same_is_refused():
    runner = FakeRunner()
    submit = runner.submit

    def drafting(request):
        submit(replace(request, speculate=True))

    runner.submit = drafting
    with pytest.raises(RunError, match="although speculation was off"):
        ask(runner, speculate=False)


def test_sampling_and_seed_go_along():
    sampling = SamplingParams(0.7, 5, 0.9, 11)
    runner, _ = ask(asked=[Question("q", (3,), 4, sampling)])
    assert runner.submitted[0].sampling == sampling
    assert runner.submitted[0].max_new_tokens == 4


def test_text_is_encoded_raw_and_a_conversation_through_the_template():
    messages = ({"role": "user", "content": "hello"},)
    asked = [Question("t", "ab", 2), Question("m", "ab", 2, messages=messages)]
    runner, _ = ask(asked=asked)
    assert [r.prompt for r in runner.submitted] == [(97, 98), (5,)]


def test_an_engine_that_fails_names_arm_and_request():
    def fail(runner):
        raise RuntimeError("out of memory")

    with pytest.raises(RunError, match="arm on: the request the engine failed: out"):
        ask(FakeRunner(before_advance=fail))
