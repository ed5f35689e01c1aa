"""What an engine is refused for when its drafts come from outside."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import engine
from tests.trtllm.machines import H200
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.trtllm.engine.run.gate_external import (
    require_block_reuse,
    require_logits,
    require_worker,
    vocabulary_rows,
)

NEW, OLD = Version("1.2.1"), Version("0.20.0")
A100 = H200.model_copy(update={"name": "NVIDIA A100", "compute_capability": "8.0"})
UNKNOWN = H200.model_copy(update={"compute_capability": None})


def reuse(block_reuse=True, gpus=(H200,), **changes):
    require_block_reuse(
        engine("ngram", **changes), block_reuse=block_reuse, gpus=gpus, where="target"
    )


@pytest.mark.parametrize("gpus", [(), (H200,), (UNKNOWN,)])
@pytest.mark.parametrize("quant", ["FP8", "W4A8_AWQ", "NVFP4"])
def test_reuse_works_beside_suitable_precisions(quant, gpus):
    reuse()
    reuse(quant=quant, kv_cache_quant="FP8", gpus=gpus)


@pytest.mark.parametrize(
    ("changes", "found", "allowed"),
    [
        ({"block_reuse": False}, "block_reuse is False", "block_reuse True"),
        ({"paged_context_fmha": False}, "use_paged_context_fmha off", "enable"),
        ({"kv_cache_quant": "INT8"}, "KV cache is INT8", "auto, or fp8"),
        ({"kv_cache_quant": "FP8"}, "FP8 beside weights not quantized", "NVFP4"),
        (
            {"kv_cache_quant": "FP8", "quant": "W4A16_AWQ"},
            "beside weights W4A16_AWQ",
            "W4A8_AWQ",
        ),
        (
            {"kv_cache_quant": "FP8", "quant": "FP8", "gpus": (H200, A100)},
            "NVIDIA A100, compute capability 8.0",
            "8.9 or more",
        ),
    ],
)
def test_what_switches_reuse_off_is_refused(changes, found, allowed):
    with pytest.raises(RunError) as caught:
        reuse(**changes)
    (problem,) = caught.value.problems
    assert found in problem.what
    assert allowed in problem.allowed
    assert problem.action


def test_rows_are_padded_to_the_ranks():
    assert vocabulary_rows(engine(vocab_size=50257, tp_size=1)) == 50257
    assert vocabulary_rows(engine(vocab_size=50257, tp_size=4)) == 50260


def test_unequal_rows_are_refused_even_if_only_the_padding_differs():
    target = engine("draft_target", vocab_size=50257, tp_size=4)
    with pytest.raises(RunError, match="has 50260, the draft engine 50257") as caught:
        require_logits(target, engine(vocab_size=50257), NEW)
    assert "use_draft_logits: false" in str(caught.value)
    require_logits(target, engine(vocab_size=50260), NEW)


@pytest.mark.parametrize(
    ("target", "draft", "missing"),
    [(False, True, "target"), (True, False, "draft"), (False, False, "target")],
)
def test_an_old_version_needs_both_engines_built_with_logits(target, draft, missing):
    engines = (
        engine("draft_target", gather_generation_logits=target),
        engine(gather_generation_logits=draft),
    )
    with pytest.raises(
        RunError, match=f"the {missing} engine was built with"
    ) as caught:
        require_logits(*engines, OLD)
    assert "gather_generation_logits off" in str(caught.value)
    require_logits(*engines, NEW)


def test_an_old_version_takes_engines_built_with_logits():
    built = {"gather_generation_logits": True}
    require_logits(engine("draft_target", **built), engine(**built), OLD)


def test_without_the_worker_there_are_no_two_engines():
    with pytest.raises(BackendUnavailableError, match="executorWorker"):
        require_worker(None)
    require_worker(Path("executorWorker"))
