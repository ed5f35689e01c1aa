"""What scripts/bench_verify.py counts, on pools whose truth is known."""

import importlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.verify.distribution.worlds import PROMPTS, World, WorldArm
from trtspec.verify.distribution import make_plan
from trtspec.verify.distribution.collect import ask

SOME = dict(list(PROMPTS.items())[:3])
PLAN = make_plan(len(SOME), shift=0.3, permutations=99)
SCRIPTS = Path(__file__).parents[3] / "scripts"


@pytest.fixture
def rates(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("verify_bench.rates")


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("bench_verify")


def pool(fault, first, count):
    return ask(WorldArm(World(), "arm", fault), SOME, PLAN, first, count)


@pytest.fixture
def planted(rates):
    n = PLAN.seeds
    off, control = pool(None, 0, 4 * n), pool("forced acceptance", 4 * n, 2 * n)
    exact, wrong = pool(None, 6 * n, 3 * n), pool("fuzzy acceptance", 9 * n, 2 * n)
    return {
        rates.NO_FAULT: rates.Planted(exact, off, control),
        "fuzzy acceptance": rates.Planted(wrong, off, control),
    }


def test_every_run_is_counted_and_faults_are_told_from_none(rates, planted):
    found = rates.measure(planted, PLAN, 10)
    assert {one.verdicts.total() for one in found.values()} == {10}
    assert found["fuzzy acceptance"].verdicts["fail"] == 10
    assert found[rates.NO_FAULT].verdicts["fail"] <= 2
    row = found["fuzzy acceptance"].row("fuzzy acceptance")
    assert row.startswith("| fuzzy acceptance | 10 | 100.0% | 0.0% | 0.0% | ")


def test_no_answer_is_drawn_twice_and_runs_differ(rates, planted):
    answers = planted[rates.NO_FAULT].off
    whole = rates.draw(answers, 4 * PLAN.seeds, PLAN, np.random.default_rng(0))
    every = answers.sample("", PLAN, as_text=False).by_prompt
    for name in SOME:
        assert Counter(whole[name]) == Counter(every[name])
    one, two = (
        rates.draw(answers, PLAN.seeds, PLAN, np.random.default_rng(seed))
        for seed in (0, 1)
    )
    assert one != two


@pytest.mark.parametrize(
    ("name", "failed", "good"),
    [
        ("no fault", 10, True),
        ("no fault", 11, False),
        ("argmax", 190, True),
        ("argmax", 189, False),
    ],
)
def test_rates_are_held_to_5_and_95_percent(script, rates, name, failed, good):
    counted = rates.Rates(verdicts=Counter({"fail": failed, "pass": 200 - failed}))
    assert script.as_wanted(name, counted) is good
