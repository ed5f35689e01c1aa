"""A canary as a whole: what it asks, when it fails, and when it cannot tell."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeClock
from tests.verify.canary.fakes import FakeArm, FakeTalker, questions
from trtspec.verify.canary import CanaryResult, run_canary

NAMES = [
    *("text", "acceptance", "repeat", "recovery"),
    *("streaming", "stop strings", "usage"),
]


def canary(arm: FakeArm, talker: FakeTalker | None = None, **given) -> CanaryResult:
    return run_canary(arm, questions(), talker=talker or FakeTalker(), **given)


def verdict_of(result: CanaryResult, name: str) -> str:
    (check,) = [check for check in result.checks if check.name == name]
    return check.verdict


def test_a_sane_engine_passes_every_check():
    result = canary(FakeArm())

    assert [check.name for check in result.checks] == NAMES
    assert {check.verdict for check in result.checks} == {"pass"}
    assert (result.verdict, result.reasons) == ("pass", ())
    assert result.first is not None
    assert result.first.rate == pytest.approx(0.5)


def test_it_asks_quietly_again_in_a_burst_and_quietly_again():
    arm = FakeArm()
    canary(arm, burst=8)

    assert arm.rounds == [
        ("first", 4, 1),
        ("repeat", 4, 1),
        ("burst", 8, 8),
        ("recovery", 4, 1),
    ]


def test_it_asks_no_more_than_a_few_and_short_questions():
    arm = FakeArm(text=lambda question: "a word " * question.max_tokens)
    seen: list[int] = []
    arm.text = lambda question: seen.append(question.max_tokens) or "text " * 20

    run_canary(arm, questions(40, tokens=512))
    assert max(seen) == 48
    assert arm.rounds[0][1] == 4


@pytest.mark.parametrize(
    ("lost_in", "rate"), [("repeat", 0.1), ("recovery", 0.25), ("recovery", 0.0)]
)
def test_acceptance_that_does_not_come_back_fails(lost_in, rate):
    result = canary(FakeArm(rate=lambda round_: rate if round_ == lost_in else 0.5))

    assert result.verdict == "fail"
    assert verdict_of(result, lost_in) == "fail"
    assert [c.name for c in result.checks if c.verdict == "fail"] == [lost_in]


def test_less_acceptance_in_the_burst_itself_is_no_fault():
    result = canary(FakeArm(rate=lambda round_: 0.1 if round_ == "burst" else 0.5))

    assert result.verdict == "pass"


def test_an_engine_that_tells_nothing_of_drafts_cannot_be_judged():
    result = canary(FakeArm(drafted=None))

    assert result.verdict == "cannot tell"
    assert verdict_of(result, "text") == "pass"
    assert result.first is not None
    assert result.first.rate is None


def test_without_a_talker_the_rest_decides():
    result = run_canary(FakeArm(), questions())

    assert result.verdict == "pass"
    assert [check.name for check in result.checks] == NAMES[:4]


def test_without_questions_nothing_is_said():
    result = run_canary(FakeArm(), [])

    assert result.verdict == "cannot tell"
    assert result.reasons


def test_what_there_is_no_time_for_cannot_be_told():
    clock = FakeClock()
    arm = FakeArm()
    quick = arm.answer

    def slow(asked, concurrency):
        clock.now += 25.0
        return quick(asked, concurrency)

    arm.answer = slow
    result = canary(arm, seconds=60.0, clock=clock)

    assert result.verdict == "cannot tell"
    assert verdict_of(result, "repeat") == "pass"
    assert verdict_of(result, "usage") == "cannot tell"
    assert "no time left" in " ".join(result.reasons)
    assert result.seconds == pytest.approx(100.0)


def test_a_fault_found_in_time_counts_though_the_rest_was_left_out():
    clock = FakeClock()
    arm = FakeArm(text=lambda question: "")
    quick = arm.answer

    def slow(asked, concurrency):
        clock.now += 90.0
        return quick(asked, concurrency)

    arm.answer = slow
    assert canary(arm, seconds=60.0, clock=clock).verdict == "fail"


def test_the_record_survives_json():
    result = canary(FakeArm(rate=lambda round_: 0.0))

    assert CanaryResult.model_validate_json(result.model_dump_json()) == result
    assert all(field.description for field in CanaryResult.model_fields.values())
