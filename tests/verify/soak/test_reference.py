"""A soak of a toy on the reference engine, whose draft length follows the batch."""

from __future__ import annotations

import random

from tests.bench.fakes import FakeClock
from tests.reference.artifacts import recipe, write_model
from trtspec.reference.runner import ReferenceRunner
from trtspec.verify.soak import run_soak


def test_a_toy_engine_holds_out(tmp_path):
    """Its drafter is its target, so that all but the end of a draft is accepted."""
    target = write_model(tmp_path / "target")
    schedule = {1: 3, 3: 1}
    method = {"method": "draft_target", "model": "./d", "draft_length": schedule}
    made = recipe(method, max_batch_size=4, max_total_tokens=80)
    runner = ReferenceRunner(made, target, target, threads=1)
    chance = random.Random(2)
    prompts = [tuple(chance.randrange(4, 48) for _ in range(6)) for _ in range(6)]
    clock = FakeClock()

    def ticking() -> float:
        clock.now += 1.0
        return clock.now

    result = run_soak(
        runner,
        made.speculation,
        prompts,
        seconds=1.0,
        tokens=24,
        clock=ticking,
        memory=lambda: 100.0,
    )
    assert [level.in_flight for level in result.levels] == [1, 2, 3, 4]
    assert [level.draft_length for level in result.levels] == [3, 1, 1, 0]
    assert [round(level.up.mean) for level in result.levels] == [4, 2, 2, 1]
    assert all(check.verdict != "fail" for check in result.checks), result.reasons
    assert result.requests.lost == 0
    assert not runner.busy
