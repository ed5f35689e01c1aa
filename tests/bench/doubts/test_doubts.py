"""Doubts as a whole: a sound comparison has none, and the fatal ones come first."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, steps, varied
from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.cells import Doubt
from trtspec.bench.doubts import doubts_of, prompt_doubts


def test_a_sound_comparison_has_no_doubts():
    assert found(arm("on", varied)) == {}


@pytest.mark.parametrize("control", [True, False])
def test_a_sound_run_has_no_doubts(control):
    runner = FakeRunner(output_of=lambda r: [sum(r.prompt) % 50 + i for i in range(5)])
    done = run(runner, plan(8, control=control))
    (cell,) = done.result.cells
    assert cell.comparisons["on"].doubts == ()


def test_doubts_about_the_prompts_come_from_the_plan():
    seen = Doubt(id="random-prompts", what="they look random", fatal=True)
    of = plan(8)
    of = of.model_copy(
        update={"prompts": of.prompts.model_copy(update={"doubts": (seen,)})}
    )
    assert found(arm("on", varied), of=of) == {"random-prompts": seen}


def test_a_fatal_doubt_leaves_no_claim_and_is_the_reason():
    of = plan(8)
    seen = Doubt(id="random-prompts", what="they look random", fatal=True)
    of = of.model_copy(
        update={"prompts": of.prompts.model_copy(update={"doubts": (seen,)})}
    )
    runner = FakeRunner(on_step=0.2)
    verdict = run(runner, of).result.cells[0].comparisons["on"].verdict
    assert (verdict.word, verdict.reason) == ("no claim", "they look random")


def test_fatal_doubts_come_first():
    late = arm("on", lambda b, p: {**varied(b, p), "late": 0.2})
    stopped = arm("off", lambda b, p: {"output_tokens": 2})
    doubts = doubts_of(plan(8), late, stopped)
    assert [d.fatal for d in doubts] == [True, False]


def test_every_doubt_says_what_was_seen_with_a_number():
    looping = arm(
        "on", lambda b, p: {**steps(*[4] * 30), "tokens": (5,) * 90, "late": 2.0}
    )
    drafting = arm("off", lambda b, p: {"drafted": 3, "output_tokens": 9})
    doubts = doubts_of(plan(8), looping, drafting)
    assert len(doubts) >= 5
    for doubt in doubts:
        assert any(c.isdigit() for c in doubt.what), doubt
        assert doubt.what[-1] not in ".;:", doubt
        assert doubt.id == doubt.id.lower()


def test_no_prompts_and_no_samples_are_no_error():
    assert prompt_doubts(()) == ()
    empty = arm("on", prompts=0)
    assert found(empty, arm("off", prompts=0)) == {}
