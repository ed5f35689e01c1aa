"""From checkpoints to tokens on stand-ins: the greedy tokens are the target's own."""

from __future__ import annotations

import importlib
from dataclasses import replace

import numpy as np
import pytest

from tests.models.tiny import tensors, write_checkpoint
from tests.trtllm.engine.projects import METHODS, make_workshop
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import SILENT
from trtspec.gpus import Gpu
from trtspec.recipe import load_recipe
from trtspec.reference.backend import ReferenceBackend
from trtspec.reference.runner import open_runner as open_reference
from trtspec.run import Request, generate
from trtspec.trtllm.engine.run import open_runner as open_engines

TOKENS = 20
PROMPTS = ((3, 4, 5, 3, 4), (7, 8), (9, 3, 9, 3, 9))
GPU = Gpu(
    name="stand-in",
    memory_bytes=1 << 34,
    driver="580.65",
    compute_capability="9.0",
    sm_clock_mhz=None,
    power_limit_watts=None,
)


@pytest.fixture(scope="module", params=["0.17.0", "1.2.1"])
def workshop(request, tmp_path_factory):
    made = make_workshop(tmp_path_factory.mktemp("pipeline"), request.param)
    # float16 holds these weights exactly, so that both engines have the same
    weights = {name: w.astype(np.float16) for name, w in tensors().items()}
    rounded = {name: w.astype(np.float32) for name, w in weights.items()}
    write_checkpoint(made.folder / "llama", weights=rounded)
    return made


def requests(**options) -> list[Request]:
    return [
        Request(f"r{i}", prompt, TOKENS, ignore_eos=True, **options)
        for i, prompt in enumerate(PROMPTS)
    ]


def completions(runner, asked):
    try:
        chunks = list(generate(runner, asked))
    finally:
        runner.close()
    done = {c.request_id: c.completion for c in chunks if c.completion}
    return [done[request.id] for request in asked]


@pytest.fixture(scope="module")
def target_tokens(workshop):
    """What plain decoding with the reference engine gives."""
    plain = workshop.folder / "plain.yaml"
    plain.write_text(
        "schema: trtspec/v1\nname: plain\nbackend: reference\n"
        "target: {model: ./llama, dtype: float32}\nspeculation: {method: none}\n"
        "limits: {max_batch_size: 2, max_input_tokens: 16, max_total_tokens: 40}\n"
    )
    engines = workshop.folder / "reference"
    artifact = build(load_recipe(plain), ReferenceBackend(), engines, SILENT).artifact
    done = completions(open_reference(artifact, threads=1), requests())
    return [completion.tokens for completion in done]


def run_engines(workshop, method, asked):
    """Build the recipe, run it, and give what the stand-in says it really did."""
    recipe = workshop.write(method, name=method.replace("_", "-"))
    artifact = Artifact.open(workshop.build(recipe).artifact.path)
    with workshop.open() as backend:
        records = importlib.import_module("tensorrt_llm.bindings.executor").RECORDS
        records.clear()
        here = replace(backend.installation, gpus=(GPU,))
        return completions(open_engines(artifact, here), asked), list(records)


@pytest.mark.parametrize("method", METHODS)
def test_greedy_tokens_are_the_reference_engines(workshop, target_tokens, method):
    done, _ = run_engines(workshop, method, requests())
    assert [completion.tokens for completion in done] == target_tokens
    assert not any(completion.lossy for completion in done)


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_acceptance_is_what_the_engine_really_did(workshop, method):
    done, records = run_engines(workshop, method, requests())
    verified = [r for e in records for r in e.requests if r.external_draft]
    assert sum(c.drafted for c in done) == sum(r.drafted for r in verified) > 0
    assert sum(c.accepted for c in done) == sum(r.accepted for r in verified)
    for completion in done:
        assert len(completion.tokens) == 1 + completion.steps + completion.accepted


@pytest.mark.parametrize("method", ["none", "ngram", "draft_target", "lookahead"])
def test_the_off_arm_gives_the_same_tokens(workshop, target_tokens, method):
    done, _ = run_engines(workshop, method, requests(speculate=False))
    assert [completion.tokens for completion in done] == target_tokens
    assert not any(completion.drafted for completion in done)
