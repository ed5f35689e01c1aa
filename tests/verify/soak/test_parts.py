"""Levels of a schedule, loss beyond chance, trends of memory, a strict driver."""

from __future__ import annotations

import mmap
import random

import pytest

from tests.verify.soak.fakes import PROMPTS, SoakRunner, method
from trtspec.errors import RunError
from trtspec.methods import Medusa, NoSpeculation
from trtspec.run import Chunk, StepResult
from trtspec.verify.soak.drive import Driver
from trtspec.verify.soak.leaks import look_at_memory, look_at_slots, memory_now
from trtspec.verify.soak.levels import levels_of
from trtspec.verify.soak.mix import stretched
from trtspec.verify.soak.pace import compare, pace_of, pace_of_requests


@pytest.mark.parametrize(
    ("draft_length", "most", "levels"),
    [
        ({8: 4, 32: 2}, 64, (1, 8, 9, 32, 33, 64)),
        ({8: 4, 32: 2}, 32, (1, 8, 9, 32)),
        ({8: 4, 32: 2}, 4, (1, 4)),
        ({1: 4, 2: 1}, 8, (1, 2, 3, 8)),
        (4, 8, (1, 4, 8)),
        (4, 1, (1,)),
    ],
)
def test_both_sides_of_every_threshold(draft_length, most, levels):
    assert levels_of(method(draft_length), most) == levels


def test_methods_without_a_draft_length_have_levels_too():
    heads = Medusa(method="medusa", model="./heads")

    assert levels_of(heads, 8) == (1, 4, 8)
    assert levels_of(NoSpeculation(method="none"), 2) == (1, 2)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([1, 3] * 50, [1, 3] * 50, "pass"),
        ([1, 3] * 50, [1, 2] * 50, "fail"),
        ([1, 3] * 50, [2, 3] * 50, "pass"),
        ([1, 3] * 50, [1] * 100, "fail"),
        ([1, 3] * 5, [1] * 100, "cannot tell"),
        ([1] * 100, [1] * 100, "cannot tell"),
        ([1] * 97 + [2] * 3, [1] * 98 + [2] * 2, "cannot tell"),  # 1.03 per step
        ([1] * 25 + [5] * 10, [1] * 25 + [5] * 10, "cannot tell"),  # all could go
        ([3] * 400, [3] * 360 + [2] * 40, "pass"),  # beyond chance, and a trifle
        ([1, 5] * 16, [1, 4] * 16, "pass"),  # no trifle, and not beyond chance
    ],
)
def test_loss_is_beyond_chance_and_beyond_a_trifle(before, after, verdict):
    check = compare("ramp", "here", pace_of(before), pace_of(after))

    assert check.verdict == verdict


def test_what_cannot_be_told_says_what_would_have_been_seen():
    scarce = pace_of([1] * 970 + [2] * 30)
    check = compare("ramp", "here", scarce, scarce)
    assert "too little is accepted to say that it came back" in check.what
    assert "smallest loss that would have been seen is 0.031 tokens per step" in (
        check.what
    )
    nothing = compare("ramp", "here", pace_of([1] * 300), pace_of([1] * 300))
    assert "is 0.01 tokens per step" in nothing.what  # none in 300: at most 1 in 100


def test_a_rung_without_drafts_has_nothing_to_come_back():
    none = pace_of([1] * 100)
    check = compare("ramp", "here", none, none, 0)
    assert (check.verdict, check.what) == ("pass", "here: nothing is drafted")
    assert compare("ramp", "here", none, none, 2).verdict == "cannot tell"


def test_sums_of_requests_give_a_pace():
    pace = pace_of_requests([(20, 10), (30, 10), (0, 0)])
    assert (pace.steps, pace.mean) == (20, 2.5)
    # two means half a token apart from 2.5, each of ten steps
    assert pace.deviation == pytest.approx((10 * 0.25 * 2) ** 0.5)
    assert pace_of_requests([]).steps == 0


def test_a_loss_shows_in_sums_of_requests_too():
    before = pace_of_requests([(20, 10), (22, 10), (21, 10), (19, 10)])
    after = pace_of_requests([(11, 10), (12, 10), (11, 10), (12, 10)])
    assert compare("ramp", "here", before, after).verdict == "fail"
    assert compare("ramp", "here", before, before).verdict == "pass"


def test_chance_alone_seldom_fails():
    chance = random.Random(7)
    lost = 0
    for _ in range(2000):
        one, other = (
            pace_of([chance.choice((1, 1, 2, 4)) for _ in range(60)]) for _ in "ab"
        )
        lost += compare("ramp", "here", one, other).verdict == "fail"
    assert lost <= 4


@pytest.mark.parametrize(
    ("readings", "verdict"),
    [
        ([100, *[1000.0] * 7], "pass"),
        ([100, *range(1000, 1700, 100)], "fail"),
        ([100, 1000, 1090, 1220, 1180, 1330, 1390], "fail"),
        ([100, 1000, 1010, 1020, 1030, 1040, 1050], "pass"),  # less than 5 %
        ([100, 100, 110, 120, 130, 140, 150], "pass"),  # less than 64 MiB
        ([100, 1000, 1400, 1300, 1200, 1150, 1120], "pass"),  # a peak that goes
        ([100, 1000, 1200, 1190, 1210, 1180, 1205], "pass"),  # grew once
        ([100, 1000, 1100], "cannot tell"),
    ],
)
def test_memory_that_goes_up_and_up(readings, verdict):
    assert look_at_memory([float(r) for r in readings]).verdict == verdict


def test_memory_is_that_of_this_process():
    before = memory_now()
    # of its own: an allocation may be of pages that the process has already
    with mmap.mmap(-1, 64 << 20) as kept:
        kept[::4096] = b"x" * len(kept[::4096])
        assert memory_now() - before > 32


@pytest.mark.parametrize(("lost", "verdict"), [(0, "pass"), (1, "fail"), (7, "fail")])
def test_lost_places(lost, verdict):
    runner = SoakRunner(places_lost=lost)

    check = look_at_slots(Driver(runner), PROMPTS)
    assert check.verdict == verdict
    assert f"{8 - lost} of 8" in check.what
    assert not runner.busy


def test_the_driver_refuses_answers_to_what_has_ended():
    runner = SoakRunner()
    driver = Driver(runner)
    driver.submit(PROMPTS[0], 4)
    runner.advance = lambda: StepResult((Chunk("another", (1,), "", 0.0),))

    with pytest.raises(RunError, match="which has ended"):
        driver.step()


def test_the_first_and_the_last_step_of_a_request_do_not_count():
    driver = Driver(SoakRunner())

    (seen,) = driver.keep(PROMPTS[:1], 20, 1)
    assert sum(seen.chunks) == seen.emitted == 20
    assert seen.inner == seen.chunks[1:-1]


@pytest.mark.parametrize("length", [1, 5, 8, 20])
def test_a_prompt_is_stretched_to_a_length(length):
    found = stretched(PROMPTS[0], length)

    assert len(found) == length
    assert found[: min(8, length)] == PROMPTS[0][:length]
