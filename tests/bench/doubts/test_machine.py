"""Clocks, throttling and memory that were not the same, or not enough."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, varied
from tests.bench.fakes import plan
from trtspec.bench.records import Resources
from trtspec.gpus import Gpu

GIB = 1 << 30


def with_resources(name: str, **seen: object):
    change = varied if name == "on" else lambda b, p: {}
    return arm(name, change, lambda b, p: {"resources": Resources(**seen)})


def with_gpu():
    of = plan(8)
    gpu = Gpu(
        name="Toy GPU",
        memory_bytes=80 * GIB,
        driver="1",
        sm_clock_mhz=1000,
        power_limit_watts=700.0,
    )
    hardware = of.conditions.hardware.model_copy(update={"gpus": (gpu,)})
    conditions = of.conditions.model_copy(update={"hardware": hardware})
    return of.model_copy(update={"conditions": conditions})


def test_throttling_in_one_arm_is_told():
    hot = with_resources("on", gpu_throttled=(("hardware thermal slowdown",),))
    cool = with_resources("off", gpu_throttled=((),))
    doubt = found(hot, cool)["throttled"]
    assert not doubt.fatal
    assert "arm on only: hardware thermal slowdown" in doubt.what


def test_throttling_in_both_arms_is_the_machines():
    both = [
        with_resources(n, gpu_throttled=(("software power cap",),))
        for n in ("on", "off")
    ]
    assert found(*both) == {}


def test_what_only_one_arm_tells_is_not_compared():
    assert found(with_resources("on", gpu_throttled=(("x",),)), arm("off")) == {}


@pytest.mark.parametrize(
    ("clock", "told"), [(1980, False), (1950, False), (1900, True)]
)
def test_different_clocks_are_told(clock, told):
    on = with_resources("on", gpu_clock_mhz=((300, 1980),))
    off = with_resources("off", gpu_clock_mhz=((300, clock),))
    assert ("different-clocks" in found(on, off)) is told


@pytest.mark.parametrize(("used", "told"), [(15.0, False), (15.5, True)])
def test_a_full_machine_is_told(used, told):
    on = with_resources("on", memory_bytes=int(used * GIB))
    assert ("memory-full" in found(on)) is told


@pytest.mark.parametrize(("used", "told"), [(76, False), (79, True)])
def test_a_full_gpu_is_told(used, told):
    off = with_resources("off", gpu_memory_bytes=(used * GIB,))
    doubt = found(arm("on", varied), off, with_gpu()).get("memory-full")
    assert (doubt is not None) is told
    if doubt:
        assert "GPU 0" in doubt.what
        assert not doubt.fatal
