"""A soak as a whole, on an engine whose faults are scripted."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeClock
from tests.verify.soak.fakes import PROMPTS, SoakRunner, method
from trtspec.errors import RunError, UsageError
from trtspec.verify.soak import SoakResult, run_soak


def soak(runner: SoakRunner, *, seconds=900.0, prompts=PROMPTS, **given) -> SoakResult:
    clock = FakeClock()

    def tick() -> None:
        clock.now += 1.0

    runner.tick = tick
    memory = given.pop("memory", lambda: 500.0)
    return run_soak(
        runner,
        given.pop("method", method()),
        prompts,
        seconds=seconds,
        clock=clock,
        memory=memory,
        **given,
    )


def failed(result: SoakResult) -> set[str]:
    return {check.name for check in result.checks if check.verdict == "fail"}


def test_a_sane_engine_passes():
    result = soak(SoakRunner())

    assert (result.verdict, result.reasons) == ("pass", ())
    assert {check.name for check in result.checks} == {
        *("ramp", "riders", "recovery"),
        *("requests", "slots", "memory"),
    }
    assert result.requests.lost == 0
    assert result.requests.finished + result.requests.cancelled == (
        result.requests.submitted
    )
    assert result.requests.cancelled > 5
    assert result.requests.long > 2


def test_every_rung_is_visited_on_both_of_its_sides():
    runner = SoakRunner()
    result = soak(runner)

    assert {level.in_flight: level.draft_length for level in result.levels} == {
        1: 4,
        2: 4,
        3: 2,
        6: 2,
        7: 0,
        8: 0,
    }
    assert set(range(1, 9)) <= runner.most_seen
    assert result.levels[-1].down is None
    assert all(level.down == level.up for level in result.levels[:-1])
    assert result.levels[0].up.mean > result.levels[2].up.mean > 1.0
    assert result.levels[-1].up.mean == pytest.approx(1.0)


def test_a_state_that_goes_stale_at_draft_length_0_is_found_on_riders_alone():
    result = soak(SoakRunner(goes_stale=True))

    assert failed(result) == {"riders"}
    assert "burst of 8" in result.reasons[0]


def test_it_is_no_fault_where_the_schedule_never_reaches_0():
    whole = {2: 4, 8: 2}

    runner = SoakRunner(schedule=whole, goes_stale=True)
    assert soak(runner, method=method(whole)).verdict == "pass"


def test_drafting_that_stays_bad_after_a_burst_is_found_on_the_way_down():
    result = soak(SoakRunner(worn=True))

    assert {"ramp", "recovery"} <= failed(result)


def test_places_that_cancelled_requests_keep_are_found():
    runner = SoakRunner(leaks=True)
    dropped = []
    cancel = runner.cancel

    def few(name: str) -> None:  # else no place is left before the end
        if len(dropped) < 3:
            dropped.append(name)
            cancel(name)

    runner.cancel = few
    result = soak(runner)
    assert failed(result) == {"slots"}
    assert "of 8 requests ran at once" in result.reasons[0]


def test_requests_that_end_without_a_word_are_an_error():
    with pytest.raises(RunError, match="lost requests"):
        soak(SoakRunner(forgets=True, max_running=2))


def test_more_tokens_than_were_asked_for_are_found():
    result = soak(SoakRunner(overshoots=True))

    assert failed(result) == {"requests"}
    assert "more tokens" in result.reasons[0]


def test_memory_that_grows_with_the_requests_is_found():
    held = iter(range(500, 10_000, 60))
    result = soak(SoakRunner(), memory=lambda: float(next(held)))

    assert failed(result) == {"memory"}
    assert len(result.memory_mib) == 8


def test_the_same_seed_gives_the_same_soak_and_another_another():
    one, same, other = (soak(SoakRunner(), seed=s) for s in (3, 3, 4))

    assert one == same
    assert one.requests != other.requests
    assert one.seed == 3


def test_it_takes_the_time_it_was_given():
    short, long = (soak(SoakRunner(), seconds=s) for s in (1.0, 3000.0))

    assert long.seconds == pytest.approx(3000.0, rel=0.1)
    assert long.requests.submitted > 2 * short.requests.submitted
    assert short.requests.submitted >= 6 * 8
    assert short.verdict == "pass"


def test_one_request_at_a_time_has_no_riders():
    result = soak(SoakRunner(max_running=1))

    assert result.verdict == "pass"
    assert [level.in_flight for level in result.levels] == [1]


def test_prompts_without_room_are_left_out():
    long = tuple(range(41))

    assert soak(SoakRunner(), prompts=[*PROMPTS, long]).verdict == "pass"
    with pytest.raises(UsageError, match="no prompt leaves room"):
        soak(SoakRunner(), prompts=[long])


def test_the_record_survives_json():
    result = soak(SoakRunner())

    assert SoakResult.model_validate_json(result.model_dump_json()) == result
    assert all(field.description for field in SoakResult.model_fields.values())
