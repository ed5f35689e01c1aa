"""How engines are loaded: devices, KV cache, workers, and their own drafters."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import engine, installation, recipe
from tests.trtllm.engine.run.fakes import FakeBindings
from trtspec.errors import RunError
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.decoding import decoding_config
from trtspec.trtllm.engine.run.settings import (
    DRAFT,
    TARGET,
    Engines,
    executor_config,
    load_settings,
)


def fake(version="1.2.1"):
    return Bindings(FakeBindings(version), Version(version))


def configs(method="none", version="1.2.1", block_reuse=True, tp=1, **options):
    """The executor configurations by role."""
    draft = engine() if method == "draft_target" else None
    loaded = load_settings(
        recipe(method, **options),
        Engines(engine(method, tp_size=tp), draft),
        installation(version),
        block_reuse=block_reuse,
    )
    made = {r: executor_config(fake(version), x.settings) for r, x in loaded.items()}
    return {role: config.arguments for role, config in made.items()}


def decoding(method, version="1.2.1", **options):
    made = decoding_config(fake(version), recipe(method, **options).speculation)
    return made and made.arguments


def test_one_engine_on_one_gpu_runs_in_this_process():
    config = configs()[TARGET]
    assert (config["max_batch_size"], config["max_beam_width"]) == (2, 1)
    assert config["parallel_config"].arguments == {
        "communication_type": "MPI",
        "communication_mode": "LEADER",
        "device_ids": [0],
    }
    assert config["kv_cache_config"].arguments == {
        "enable_block_reuse": True,
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
    assert target.free_gpu_memory_fraction == pytest.approx(0.4)
    assert draft.free_gpu_memory_fraction == pytest.approx(0.1)
    assert target.max_tokens is None
    assert draft.max_tokens == 2 * 64 * 3  # 124 tokens of each of two requests


def test_block_reuse_can_be_switched_off():
    cache = configs(block_reuse=False)[TARGET]["kv_cache_config"]
    assert cache.enable_block_reuse is False


def test_logits_are_asked_for_where_the_version_can():
    late = configs("draft_target", use_draft_logits=True)
    assert all(c["gather_generation_logits"] is True for c in late.values())
    early = configs("draft_target", "0.20.0", use_draft_logits=True)
    assert all("gather_generation_logits" not in c for c in early.values())
    tokens = configs("draft_target")
    assert all("gather_generation_logits" not in c for c in tokens.values())


@pytest.mark.parametrize("method", ["none", "ngram", "draft_target", "redrafter"])
def test_engines_with_nothing_to_decide_get_no_decoding_config(method):
    assert decoding(method) is None


def test_medusa_gets_its_tree():
    assert decoding("medusa") == {
        "decoding_mode": "Medusa",
        "medusa_choices": [[0], [0, 0], [1]],
    }


def test_a_named_tree_is_spelt_out():
    tree = {"tree": "mc_sim_7b_63", "num_heads": 4}
    assert len(decoding("medusa", **tree)["medusa_choices"]) == 63


def test_eagle_1_gets_its_tree_and_is_greedy():
    config = decoding("eagle", "0.17.0")
    assert config["decoding_mode"] == "Eagle"
    assert config["eagle_config"].arguments == {
        "greedy_sampling": True,
        "eagle_choices": [[0], [0, 0], [1]],
    }


def test_eagle_2_gets_its_top_k_and_no_tree():
    config = decoding("eagle", tree="dynamic", dynamic_top_k=3)
    assert config["eagle_config"].arguments == {
        "greedy_sampling": True,
        "use_dynamic_tree": True,
        "dynamic_tree_max_topK": 3,
    }


def test_a_field_that_the_version_lacks_is_never_passed():
    with pytest.raises(RunError, match="use_dynamic_tree, dynamic_tree_max_topK"):
        decoding("eagle", "0.17.0", tree="dynamic", dynamic_top_k=3)


def test_typical_acceptance_gets_its_threshold():
    config = decoding("eagle", acceptance="typical", posterior_threshold=0.09)
    arguments = config["eagle_config"].arguments
    assert arguments["greedy_sampling"] is False
    assert arguments["posterior_threshold"] == 0.09


def test_lookahead_gets_its_sizes():
    config = decoding("lookahead")
    assert config["decoding_mode"] == "Lookahead"
    assert config["lookahead_decoding_config"].arguments == {
        "max_window_size": 3,
        "max_ngram_size": 3,
        "max_verification_set_size": 3,
    }
