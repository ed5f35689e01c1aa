"""In which order the blocks of all arms run."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, arms, plan
from trtspec.bench.arms import CONTROL, OFF, ON, block_order, control_of


def test_two_arms_take_turns_at_being_first():
    assert list(block_order(("off", "on"), 4)) == [
        ("off", 0),
        ("on", 0),
        ("off", 1),
        ("on", 1),
        ("on", 2),
        ("off", 2),
        ("on", 3),
        ("off", 3),
        ("off", 4),
        ("on", 4),
    ]


@pytest.mark.parametrize("names", [("a", "b"), ("a", "b", "c"), ("a", "b", "c", "d")])
@pytest.mark.parametrize("repeats", [1, 2, 3, 8])
def test_each_round_has_every_arm_once(names, repeats):
    order = list(block_order(names, repeats))
    assert len(order) == len(names) * (repeats + 1)
    for start in range(0, len(order), len(names)):
        part = order[start : start + len(names)]
        assert sorted(arm for arm, _ in part) == sorted(names)
        assert {block for _, block in part} == {start // len(names)}


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_over_all_pairs_of_rounds_every_arm_has_every_place_equally_often(count):
    names = tuple("abcde"[:count])
    places = {name: [0] * count for name in names}
    order = [arm for arm, block in block_order(names, 2 * count) if block]
    for index, arm in enumerate(order):
        places[arm][index % count] += 1
    assert all(seen == [2] * count for seen in places.values())


def test_the_control_is_the_baseline_under_another_name():
    baseline, _ = arms(FakeRunner(), plan(3))
    control = control_of(baseline)
    assert (baseline.name, control.name) == (OFF, CONTROL)
    assert (control.role, control.speculate) == ("control", False)
    assert control.driver is baseline.driver
    assert control.prompts == baseline.prompts
    assert control.info.speculation == {"method": "none"}


def test_the_toy_plan_has_off_and_on():
    assert [arm.name for arm in plan(2).arms] == [OFF, ON]
