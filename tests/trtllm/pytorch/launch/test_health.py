"""How answers at /health are judged, one after another."""

import pytest

from trtspec.trtllm.pytorch.launch.health import HealthWatch

BROKEN = "says at /health that it cannot serve"
HUNG = "did not answer at /health for 600 s (--hang-timeout)"


def last_fault(*answers, hang=600.0):
    watch = HealthWatch(hang, now=0.0)
    faults = [watch.fault(healthy, now) for now, healthy in answers]
    assert not any(faults[:-1])
    return faults[-1]


@pytest.mark.parametrize(
    ("answers", "fault"),
    [
        ([False, False, False], BROKEN),
        ([False, False, True, False, False], ""),
        ([False, None, False, None, None, False], BROKEN),
        ([True, None, None, None, None], ""),
    ],
)
def test_three_noes_without_a_yes_between_mean_broken(answers, fault):
    assert last_fault(*enumerate(answers)) == fault


def test_silence_counts_from_the_last_answer():
    assert last_fault((500.0, True), (1099.0, None)) == ""
    assert last_fault((500.0, True), (1099.0, None), (1100.0, None)) == HUNG
    assert last_fault((500.0, False), (1099.0, None)) == ""


def test_without_a_limit_silence_is_no_fault():
    assert last_fault((1e9, None), hang=0.0) == ""
