"""Late clients, answers of different lengths, first blocks that were not warm."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, varied
from tests.bench.fakes import plan


def late_by(seconds: float):
    return lambda b, p: {**varied(b, p), "late": seconds}


@pytest.mark.parametrize(
    ("late", "fatal"), [(0.0, None), (0.04, None), (0.2, False), (0.5, True)]
)
def test_lateness_is_weighed_against_the_latency(late, fatal):
    doubt = found(arm("on", late_by(late))).get("client-late")
    assert (doubt.fatal if doubt else None) is fatal


def test_a_single_late_request_is_none():
    one = arm(
        "on", lambda b, p: {**varied(b, p), "late": 3.0 if (b, p) == (1, 0) else 0.0}
    )
    assert "client-late" not in found(one)


def test_the_baseline_is_looked_at_as_well():
    late = arm("off", lambda b, p: {"late": 2.0})
    assert "arm off" in found(arm("on", varied), late)["client-late"].what


@pytest.mark.parametrize(("tokens", "told"), [(90, True), (96, False), (112, True)])
def test_greedy_arms_of_different_lengths_are_fatal(tokens, told):
    on = arm("on", lambda b, p: {**varied(b, p), "output_tokens": tokens})
    off = arm("off", lambda b, p: {"output_tokens": 100})
    doubt = found(on, off).get("different-lengths")
    assert (doubt is not None) is told
    if doubt:
        assert doubt.fatal
        assert str(tokens * 24) in doubt.what


def test_sampled_arms_of_different_lengths_are_told():
    on = arm("on", lambda b, p: {**varied(b, p), "output_tokens": 50})
    off = arm("off", lambda b, p: {"output_tokens": 100})
    assert not found(on, off, plan(8, temperature=1.0))["different-lengths"].fatal


def slow_first(seconds: float):
    return lambda b, p: {"wall_seconds": seconds if b == 1 else 10.0}


@pytest.mark.parametrize("cold", ["on", "off"])
def test_a_cold_first_block_in_one_arm_is_told(cold):
    arms = {"on": arm("on", varied), "off": arm("off")}
    change = varied if cold == "on" else lambda b, p: {}
    arms[cold] = arm(cold, change, slow_first(20.0))
    doubt = found(arms["on"], arms["off"])["cold-first-block"]
    assert not doubt.fatal
    assert f"arm {cold} had 50%" in doubt.what


def test_a_slow_first_round_of_both_arms_is_the_machines():
    both = arm("on", varied, slow_first(20.0)), arm("off", of_block=slow_first(20.0))
    assert "cold-first-block" not in found(*both)


def test_a_first_block_that_is_a_little_slower_is_none():
    assert found(arm("on", varied, slow_first(11.0))) == {}


@pytest.mark.parametrize("name", ["on", "off"])
def test_answers_longer_than_asked_are_told(name):
    def longer(block, prompt):
        tokens = 6 if (block, prompt) == (2, 3) else 5
        return {
            **(varied(block, prompt) if name == "on" else {}),
            "output_tokens": tokens,
        }

    arms = {"on": arm("on", varied), "off": arm("off")} | {name: arm(name, longer)}
    doubt = found(arms["on"], arms["off"])["longer-than-asked"]
    assert not doubt.fatal
    assert f"arm {name}: 1 of 24 answers have more than the 5 tokens" in doubt.what
    assert "longer-than-asked" not in found(arm("on", varied))
