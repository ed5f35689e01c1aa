"""Steps whose cost is measured all have the shape that was asked for."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import RunError, UsageError
from trtspec.reference.costing import (
    ROUNDS,
    WARM_UP_ROUNDS,
    Grid,
    draft_costs,
    verify_costs,
)
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Request

PROMPTS = [(2, 9, 4, 3), (2, 11, 12, 13, 3)]
LENGTHS = [0, 1, 3]


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("target") / "target")


@pytest.fixture
def runner(target):
    return ReferenceRunner(recipe(), target, None, threads=1)


def decode_steps(timed):
    return [step for step in timed.records if step.kind == "decode"]


@pytest.mark.parametrize("batch", [1, 2])
def test_every_length_is_timed_as_often_in_full_batches(runner, batch):
    timed = verify_costs(runner, Grid(PROMPTS[:batch], LENGTHS))
    assert {k: len(s) for k, s in timed.seconds.items()} == dict.fromkeys(
        LENGTHS, ROUNDS
    )
    steps = decode_steps(timed)
    assert {s.running for s in steps} == {batch}
    assert {s.emitted for s in steps} == {batch}
    assert Counter(s.drafted for s in steps) == dict.fromkeys(
        [batch * k for k in LENGTHS], WARM_UP_ROUNDS + ROUNDS
    )
    assert all(value > 0 for each in timed.seconds.values() for value in each)
    assert not runner.busy


def test_lengths_take_turns_in_an_order_of_their_own_each_round(runner):
    steps = decode_steps(verify_costs(runner, Grid(PROMPTS[:1], LENGTHS)))
    rounds = [
        tuple(s.drafted for s in steps[start : start + len(LENGTHS)])
        for start in range(0, len(steps), len(LENGTHS))
    ]
    assert {tuple(sorted(each)) for each in rounds} == {tuple(LENGTHS)}
    assert len(set(rounds)) > 1


def test_drafting_is_timed_without_verifying(runner):
    timed = draft_costs(runner, Grid(PROMPTS, [1, 3], rounds=4))
    steps = decode_steps(timed)
    assert {s.drafted for s in steps} == {0}
    assert {len(s) for s in timed.seconds.values()} == {4}
    assert sum(s.draft_seconds for s in steps) > 0


def test_the_engine_is_as_before_afterwards(runner):
    before = [c.tokens for c in decoded(runner)]
    verify_costs(runner, Grid(PROMPTS, LENGTHS))
    draft_costs(runner, Grid(PROMPTS, [2]))
    assert [c.tokens for c in decoded(runner)] == before


def decoded(runner):
    for index, prompt in enumerate(PROMPTS):
        runner.submit(Request(f"r{index}", prompt, 9, ignore_eos=True))
    done = []
    while runner.busy:
        done += [c.completion for c in runner.advance().chunks if c.completion]
    assert any(c.drafted for c in done)
    return sorted(done, key=lambda c: c.request_id)


def test_a_busy_engine_is_refused(runner):
    runner.submit(Request("r", PROMPTS[0], 9))
    with pytest.raises(RunError, match="busy"):
        verify_costs(runner, Grid(PROMPTS, LENGTHS))


def test_more_steps_than_the_slots_have_room_for_are_refused(runner):
    with pytest.raises(UsageError, match="do not fit"):
        verify_costs(runner, Grid(PROMPTS, LENGTHS, rounds=100_000))


def test_an_engine_without_a_drafter_has_nothing_to_time(target):
    plain = ReferenceRunner(recipe({"method": "none"}), target, None, threads=1)
    with pytest.raises(ValueError, match="without a drafter"):
        draft_costs(plain, Grid(PROMPTS, [1]))
