"""Any YAML is judged by the facts of its version."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.judged import EAGLE, places, spoken
from tests.trtllm.pytorch.compile.recipes import NEWEST, VERSIONS
from trtspec.trtllm.pytorch.compile.validate import faults


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_wrong_with_nothing(version):
    assert faults({}, Version(version)) == ()
    assert faults({"speculative_config": None}, Version(version)) == ()


def test_a_version_of_no_family_is_the_one_fault():
    (problem,) = faults({"nonsense": 1}, Version("1.3.0rc10"))
    assert "no family" in problem.what


@pytest.mark.parametrize(
    ("version", "args", "where"),
    [
        (NEWEST, {"max_batchsize": 3}, "max_batchsize"),
        ("1.0.0", {"return_perf_metrics": True}, "return_perf_metrics"),
        (NEWEST, {"kv_cache_config": {"x": 1}}, "kv_cache_config.x"),
        (NEWEST, {"enable_mixed_sampler": True}, "enable_mixed_sampler"),
        (NEWEST, {"perf_metrics_max_requests": 3}, "perf_metrics_max_requests"),
        (NEWEST, {"max_batch_size": "8"}, "max_batch_size"),
        (NEWEST, {"max_batch_size": True}, "max_batch_size"),
        (NEWEST, {"max_batch_size": 0}, "max_batch_size"),
        (NEWEST, {"kv_cache_config": None}, "kv_cache_config"),
        (NEWEST, {"kv_cache_config": [1]}, "kv_cache_config"),
        (NEWEST, {"speculative_config": "Eagle3"}, "speculative_config"),
        (
            NEWEST,
            {"kv_cache_config": {"free_gpu_memory_fraction": 1.5}},
            "kv_cache_config.free_gpu_memory_fraction",
        ),
        (
            NEWEST,
            {"cuda_graph_config": {"batch_sizes": [1, 2], "max_batch_size": 2}},
            "cuda_graph_config.batch_sizes",
        ),
        (
            NEWEST,
            {"cuda_graph_config": {"batch_sizes": [2, 1]}},
            "cuda_graph_config.batch_sizes",
        ),
    ],
)
def test_keys_and_values_of_the_server(version, args, where):
    assert places(version, args) == [where]


def test_faults_read_well_after_the_key_s_name():
    (problem,) = faults({"max_batch_size": "8"}, Version(NEWEST))
    assert str(problem) == (
        "max_batch_size: is '8', which is not a whole number or null\n"
        "  allowed: a whole number or null"
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_another_name_of_the_section_of_speculation_names_it(version):
    (problem,) = faults({"spec_config": {}}, Version(version))
    assert problem.action == "did you mean speculative_config?"


def test_graphs_may_be_null_and_zero_means_unset():
    assert not places(NEWEST, {"cuda_graph_config": None})
    zero = {"cuda_graph_config": {"batch_sizes": [1, 2], "max_batch_size": 0}}
    assert not places(NEWEST, zero)


def test_an_unknown_key_names_the_releases_that_have_it_and_the_nearest():
    held = {
        "speculative_config": {
            "decoding_type": "DraftTarget",
            **EAGLE,
            "acceptance_rate_window_size": 3,
        }
    }
    (problem,) = faults(held, Version("1.2.1"))
    assert "it is one of main" in problem.what
    assert problem.action == "did you mean acceptance_window?"


@pytest.mark.parametrize(
    ("version", "kind", "right"),
    [
        ("1.2.1", "Eagle3", "Eagle"),
        ("1.2.1", "Draft_Target", "DraftTarget"),
        (NEWEST, "DraftTarget", "Draft_Target"),
        (NEWEST, "ngram", "NGram"),
        (NEWEST, "sa", "SA"),
    ],
)
def test_a_misspelt_type_names_the_right_one(version, kind, right):
    held = {"speculative_config": {"decoding_type": kind}}
    (problem,) = faults(held, Version(version))
    assert problem.where == "speculative_config.decoding_type"
    assert problem.action == f"write {right}"
    assert right in problem.allowed


def test_a_type_that_is_missing_or_of_another_backend_is_a_fault():
    assert places(NEWEST, {"speculative_config": {}}) == [
        "speculative_config.decoding_type"
    ]
    assert "TensorRT engines" in spoken("1.2.1", "Medusa")["decoding_type"]
    assert "Eagle3" in spoken(NEWEST, "Eagle", **EAGLE)["decoding_type"]
    assert "drafter" in spoken("1.2.1", "UserProvided")
