"""How engines are loaded: devices, KV cache, worker processes."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import MODES, engine, installation, recipe
from tests.trtllm.engine.run.fakes import FakeBindings
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.config import executor_config
from trtspec.trtllm.engine.run.load import (
    DRAFT,
    TARGET,
    Engines,
    draft_cache,
    engine_bytes,
    load_settings,
)


def fake(version="1.2.1"):
    return Bindings(FakeBindings(version), Version(version))


def configs(method="none", version="1.2.1", tp=1, weights=None, **options):
    """The executor configurations by role."""
    draft = engine() if method == "draft_target" else None
    loaded = load_settings(
        recipe(method, **options),
        Engines(engine(method, tp_size=tp), draft),
        installation(version),
        weights or {},
    )
    made = {r: executor_config(fake(version), x.settings) for r, x in loaded.items()}
    return {role: config.arguments for role, config in made.items()}


def test_one_engine_on_one_gpu_runs_in_this_process():
    config = configs()[TARGET]
    assert (config["max_batch_size"], config["max_beam_width"]) == (2, 1)
    assert config["parallel_config"].arguments == {
        "communication_type": "MPI",
        "communication_mode": "LEADER",
        "device_ids": [0],
    }
    assert config["kv_cache_config"].arguments == {
        "enable_block_reuse": False,
        "free_gpu_memory_fraction": 0.85,
    }
    assert "decoding_config" not in config
    assert "gather_generation_logits" not in config


@pytest.mark.parametrize("options", [{"tp": 4}, {"method": "draft_target"}])
def test_several_ranks_or_engines_run_in_worker_processes(options):
    for config in configs(**options).values():
        parallel = config["parallel_config"]
        assert parallel.communication_mode == "ORCHESTRATOR"
        assert parallel.orchestrator_config.arguments == {
            "is_orchestrator": True,
            "worker_executable_path": "tensorrt_llm/bin/executorWorker",
        }


def test_there_is_a_device_per_rank():
    parallel = configs(tp=4)[TARGET]["parallel_config"]
    assert parallel.device_ids == [0, 1, 2, 3]


def test_two_engines_share_the_cache_memory():
    limits = {"kv_cache_fraction": 0.5, "max_total_tokens": 120}
    both = configs("draft_target", limits=limits)
    assert list(both) == [DRAFT, TARGET]  # the bounded one is loaded first
    draft, target = (both[role]["kv_cache_config"] for role in both)
    # of 100: at most 10 for the draft engine, 40 of the 90 that are left then
    assert draft.free_gpu_memory_fraction == pytest.approx(0.1)
    assert target.free_gpu_memory_fraction == pytest.approx(40 / 90)
    assert target.max_tokens is None
    assert draft.max_tokens == 2 * 64 * 3  # 124 tokens of each of two requests


def test_the_draft_engines_cache_leaves_room_for_the_targets_weights():
    limits = {"kv_cache_fraction": 0.5}
    weights = {TARGET: 90 * 2**30, DRAFT: 19 * 2**30}  # of 139 GiB
    both = configs("draft_target", limits=limits, weights=weights)
    fractions = [c["kv_cache_config"].free_gpu_memory_fraction for c in both.values()]
    # 30 GiB are left for both caches: a tenth of that, of 120 GiB
    assert fractions[0] * 120 == pytest.approx(3)
    assert fractions[1] * (30 - 3) == pytest.approx(12)


def test_weights_that_fill_the_gpu_leave_next_to_nothing():
    weights = {TARGET: 200 * 2**30, DRAFT: 2**30}
    gpus = installation().gpus
    cache = draft_cache(recipe("draft_target"), gpus, weights)
    assert 0 < cache.fraction < 0.01
    assert draft_cache(recipe("draft_target"), (), weights).fraction == pytest.approx(
        0.85 * 0.2
    )


def test_weights_are_those_of_the_largest_rank(tmp_path):
    assert engine_bytes(tmp_path) == 0
    for rank, size in enumerate((3, 7, 5)):
        (tmp_path / f"rank{rank}.engine").write_bytes(bytes(size))
    (tmp_path / "config.json").write_bytes(bytes(99))
    assert engine_bytes(tmp_path) == 7
    (tmp_path / "rank2_managed_weights.safetensors").write_bytes(bytes(20))
    assert engine_bytes(tmp_path) == 25


@pytest.mark.parametrize("method", MODES)
def test_blocks_are_reused_only_where_drafts_come_from_outside(method):
    outside = method in ("ngram", "draft_target")
    for config in configs(method).values():
        assert config["kv_cache_config"].enable_block_reuse is outside


def test_logits_are_asked_for_where_the_version_can():
    late = configs("draft_target", use_draft_logits=True)
    assert all(c["gather_generation_logits"] is True for c in late.values())
    early = configs("draft_target", "0.20.0", use_draft_logits=True)
    assert all("gather_generation_logits" not in c for c in early.values())
    tokens = configs("draft_target")
    assert all("gather_generation_logits" not in c for c in tokens.values())
