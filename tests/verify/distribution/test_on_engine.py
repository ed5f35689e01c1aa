"""The test on the embedded engine itself: toy models, real acceptance, real drafts."""

import importlib
from functools import cache
from pathlib import Path

import pytest

from trtspec.reference.acceptance.planted import CONTROL, PLANTED
from trtspec.verify.distribution import evaluate, make_plan
from trtspec.verify.distribution.collect import ask

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parents[3] / "scripts"
DRAFTS = ("argmax drafts", "drawn drafts")


@pytest.fixture
def toys(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("verify_bench.toy_engine")


@cache
def off_halves(make, arm, prompts, plan):
    engine = make(None)
    return tuple(
        ask(arm("off", engine), dict(prompts), plan, k * plan.seeds, plan.seeds)
        for k in (0, 1)
    )


def found_on(toys, drafts, rule):
    prompts = dict(list(toys.PROMPTS.items())[:4])
    plan = make_plan(len(prompts), shift=0.2)
    halves = off_halves(toys.toy, toys.ToyArm, tuple(prompts.items()), plan)
    engine = toys.toy(drafts)
    on = ask(toys.ToyArm("on", engine, rule), prompts, plan, 2 * plan.seeds, plan.seeds)
    wrong = toys.ToyArm(CONTROL, engine, PLANTED[CONTROL])
    control = ask(wrong, prompts, plan, 3 * plan.seeds, plan.seeds)
    return evaluate(halves, on, control, CONTROL, plan)


@pytest.mark.parametrize("drafts", DRAFTS)
def test_exact_acceptance_passes(toys, drafts):
    found = found_on(toys, drafts, None)
    assert found.verdict == "pass", found.reasons
    assert found.drafts.accepted > 0.2 * found.drafts.drafted
    assert found.control.differs


@pytest.mark.parametrize("drafts", DRAFTS)
@pytest.mark.parametrize(
    "name", ["argmax despite temperature", "temperature ignored", "typical acceptance"]
)
def test_what_is_clearly_wrong_is_found_whatever_drafts(toys, drafts, name):
    assert found_on(toys, drafts, PLANTED[name]).verdict == "fail"


def test_resampling_from_the_whole_target_is_found(toys):
    found = found_on(toys, "argmax drafts", PLANTED["p(2-p) resampling"])
    assert found.verdict == "fail"
