"""``trtspec verify`` on both backends of TensorRT-LLM: faults inside of the engine.

The engines are stand-ins; the command, the runners and the tests are the real ones.
"""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256

import pytest
import torch

from tests.standins.llm.llama import Llama
from tests.verify import on_standins
from trtspec.bench import conditions
from trtspec.cli.main import _run
from trtspec.reference.acceptance import accept_exactly
from trtspec.reference.acceptance.planted import PLANTED, Penalised
from trtspec.reference.chance import SeededChance

WORLDS = {"tensorrt": on_standins.executor_world, "pytorch": on_standins.llm_world}
COARSE = ("argmax despite temperature", "temperature ignored", "forced acceptance")
FINE = ("top-p ignored", "p(2-p) resampling", "typical acceptance")
NATIVE = "p(2-p) resampling"
"""The executor's stand-in has it of itself, for draft tokens without logits."""
ASKED = ("--greedy", "--sampled", "--oracle")
FEW = ("--output-tokens", "6", "--concurrency", "2")


@pytest.fixture(scope="module", autouse=True)
def read_before():
    """Have every engine of the same weights know what was computed for each text.

    The faults are planted behind the model: what it says of a text is always the same.
    """
    known, usual = {}, Llama.__init__

    def begin(self, config, tensors):
        usual(self, config, tensors)
        of = sha256(json.dumps(config, sort_keys=True).encode())
        for name, weights in sorted(self._weights.items()):
            of.update(name.encode() + weights.tobytes())
        self._known = known.setdefault(of.hexdigest(), self._known)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Llama, "__init__", begin)
        yield


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)


@pytest.fixture(params=list(WORLDS))
def world(request, monkeypatch, tmp_path):
    return WORLDS[request.param](monkeypatch, tmp_path)


@pytest.fixture
def verify(tmp_path):
    def run(world, *asked, shift=0.35):
        arms = [str(path) for path in world.artifacts]
        prompts = ["--prompts", str(on_standins.prompts(tmp_path))]
        model = ["--oracle-model", str(world.model), "--shift", str(shift)]
        code = _run(
            ["verify", *arms, *prompts, *model, *asked, *FEW, "--output", "v.json"]
        )
        document = json.loads((tmp_path / "v.json").read_text())
        return code, {part["name"]: part for part in document["parts"]}

    return run


def test_no_fault_passes(world, verify):
    code, parts = verify(world, *ASKED)
    assert {name: part["verdict"] for name, part in parts.items()} == dict.fromkeys(
        ("greedy", "oracle", "sampled", "oracle_sampled"), "pass"
    )
    assert code == 0


@pytest.mark.parametrize("fault", COARSE)
def test_a_wrong_rule_of_sampling_fails_both_tests_of_sampling(world, verify, fault):
    world.plant(PLANTED[fault])
    code, parts = verify(world, "--sampled", "--oracle")
    assert code == 7
    assert parts["oracle"]["verdict"] == "pass"  # greedy answers are as they should be
    assert parts["oracle_sampled"]["verdict"] == "fail"
    assert parts["sampled"]["verdict"] == "fail"


@pytest.mark.parametrize("fault", FINE)
@pytest.mark.parametrize("backend", WORLDS)
def test_finer_faults_fail_the_sampled_oracle(
    backend, verify, fault, monkeypatch, tmp_path
):
    native = (backend, fault) == ("tensorrt", NATIVE)
    lossy = {"use_draft_logits": False, "allow_lossy": True} if native else {}
    world = WORLDS[backend](monkeypatch, tmp_path, **lossy)
    if not native:
        world.plant(PLANTED[fault])
    code, parts = verify(world, "--oracle", shift=0.17)
    assert code == 7
    assert parts["oracle"]["verdict"] == "pass"
    assert parts["oracle_sampled"]["verdict"] == "fail", parts["oracle_sampled"]


def test_a_dropped_penalty_fails_on_against_off(verify, monkeypatch, tmp_path):
    """The reference has none: it sees that the off arm is not its own target.

    The executor's stand-in, one artifact for both arms, is for scripts/bench_verify.py:
    there the shift is so small that finding it takes thousands of requests.
    """
    world = on_standins.llm_world(monkeypatch, tmp_path)
    world.plainly(Penalised(4.0))
    code, parts = verify(world, "--sampled", "--oracle")
    assert code == 7
    assert parts["sampled"]["verdict"] == "fail"
    assert parts["oracle_sampled"]["verdict"] == "cannot tell"
    assert "do not run the same model" in parts["oracle_sampled"]["reasons"][0]


def one_seed(rule):
    """Draw from one stream whatever seed a request has."""

    def seeded(verified, sampling, chance):
        return rule(verified, sampling, SeededChance(7))

    return seeded


def test_seeds_that_are_dropped_leave_one_answer(verify, monkeypatch, tmp_path):
    world = on_standins.llm_world(monkeypatch, tmp_path)
    world.plant(one_seed(accept_exactly))
    code, parts = verify(world, "--sampled", "--oracle")
    assert code == 7
    assert parts["sampled"]["verdict"] == parts["oracle_sampled"]["verdict"] == "fail"


def greedy_too(rule):
    """Let a fault of sampled requests touch greedy ones, too."""

    def always(verified, sampling, chance):
        return rule(verified, replace(sampling, temperature=1e-3), chance)

    return always


def test_forced_acceptance_of_greedy_drafts_fails_parity_and_oracle(world, verify):
    world.plant(greedy_too(PLANTED["forced acceptance"]))
    code, parts = verify(world, "--greedy", "--oracle")
    if parts["greedy"]["verdict"] == "pass":
        pytest.skip("this stand-in decodes greedy requests without the rule")
    assert code == 7
    assert parts["oracle"]["verdict"] == "fail"
