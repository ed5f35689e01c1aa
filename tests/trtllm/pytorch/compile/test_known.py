"""Whatever a recipe says, only keys that its version knows and wants are written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from tests.methods.samples import SPECULATION
from tests.trtllm.pytorch.compile.recipes import NEWEST, VERSIONS, recipe, target
from trtspec.recipe import Recipe
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.known import unknown_keys
from trtspec.trtllm.pytorch.compile.validate import faults
from trtspec.trtllm.pytorch.settings import LlmArgs, Setting

ALL = (*VERSIONS, "1.3.0rc23", "1.3.0rc27", "1.4.0rc0")
PYTORCH = st.fixed_dictionaries(
    {},
    optional={
        "max_num_tokens": st.integers(1, 20_000),
        "kv_cache": st.sampled_from(["auto", "fp8", "nvfp4"]),
        "block_reuse": st.booleans(),
        "chunked_prefill": st.booleans(),
        "cuda_graphs": st.booleans(),
        "cuda_graph_batch_sizes": st.lists(st.integers(1, 99), min_size=1, max_size=4),
        "overlap_scheduler": st.booleans(),
        "expert_parallel": st.integers(1, 8),
        "attention_dp": st.booleans(),
        "gpus_per_node": st.integers(1, 8),
        "guided_decoding": st.sampled_from(["none", "xgrammar", "llguidance"]),
        "attention_backend": st.sampled_from(["TRTLLM", "FLASHINFER", "VANILLA"]),
        "moe_backend": st.sampled_from(["CUTLASS", "TRTLLM", "cutlass", "MARLIN"]),
        "penalties": st.booleans(),
        "acceptance_gate": st.fixed_dictionaries(
            {
                "window": st.integers(1, 99),
                "min_acceptance_rate": st.floats(0.01, 0.99),
            }
        ),
    },
)


@st.composite
def recipes(draw) -> Recipe:
    batch = draw(st.integers(1, 80))
    limits = {"max_batch_size": batch, "max_input_tokens": 99, "max_total_tokens": 200}
    return recipe(draw(SPECULATION), limits=limits, pytorch=draw(PYTORCH))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=recipes(), version=st.sampled_from(ALL))
def test_no_recipe_raises_and_what_it_gives_is_without_faults(made, version):
    compiled = compile_args(made, Version(version), target(context_length=200))
    assert not list(unknown_keys(compiled.args))
    assert all(setting.why for _, setting in compiled.args.leaves())
    if not compiled.blocked:
        assert not faults(compiled.args.to_dict(), Version(version))
    for remark in compiled.remarks:
        assert remark.what
        assert remark.why
        if remark.severity == "blocking":
            assert remark.action


@pytest.mark.parametrize(
    ("path", "version"),
    [
        (("no_such_key",), NEWEST),
        (("return_perf_metrics",), "1.0.0"),
        (("perf_metrics_max_requests",), NEWEST),
        (("kv_cache_config", "onboard_blocks"), NEWEST),
        (("speculative_config", "acceptance_window"), NEWEST),
        (("speculative_config", "eagle3_one_model"), "1.3.0rc22"),
        (("speculative_config", "sa_config", "enable"), NEWEST),
    ],
)
def test_a_key_that_the_version_does_not_want_is_found(path, version):
    kind = "Eagle3" if Version(version) >= Version("1.3.0rc0") else "Eagle"
    spelled = Setting("speculative_config", (Setting("decoding_type", kind, "x"),))
    setting = Setting(path[-1], 1, "x")
    for key in reversed(path[:-1]):
        setting = Setting(key, (setting,))
    if path[0] == "speculative_config":
        setting = Setting(path[0], (*spelled.children, *setting.children))
        spelled = Setting("dtype", "auto", "x")
    args = LlmArgs(Version(version), (spelled, setting))
    assert list(unknown_keys(args)) == [".".join(path)]
