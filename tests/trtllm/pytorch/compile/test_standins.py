"""The stand-in of each release accepts what is written for it."""

from __future__ import annotations

from itertools import product

import pytest

from tests.standins import install
from tests.standins.llm import argument_classes
from tests.trtllm.pytorch.compile.golden import ROWS
from tests.trtllm.pytorch.compile.recipes import EAGLE3, VERSIONS, args, compiled
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile.installed import faults_by_classes


@pytest.fixture(scope="module")
def top_level(tmp_path_factory):
    """The top-level class of a version."""
    root = tmp_path_factory.mktemp("standins")
    install(root, "1.2.1", pytorch=True)
    return lambda version: argument_classes(version, str(root))["TorchLlmArgs"]


@pytest.mark.parametrize(("row", "version"), list(product(ROWS, VERSIONS)))
def test_its_classes_accept_every_configuration(row, version, top_level):
    made = compiled(version, ROWS[row][0])
    if not made.blocked:
        top_level(version)(model="target", **made.args.to_dict())


TWO_GPUS = {"model": "org/target", "tensor_parallel": 2}
FULL = {
    "pytorch": {
        "kv_cache": "fp8",
        "chunked_prefill": True,
        "cuda_graph_batch_sizes": [1, 8, 64],
        "expert_parallel": 2,
        "attention_dp": True,
        "gpus_per_node": 8,
        "attention_backend": "FLASHINFER",
        "moe_backend": "CUTLASS",
        "overlap_scheduler": False,
        "block_reuse": False,
        "llm_args": {"stream_interval": 2, "kv_cache_config": {"max_tokens": 9}},
    }
}


@pytest.mark.parametrize("version", VERSIONS)
def test_its_classes_accept_every_setting_of_the_server(version, top_level):
    written = args(version, EAGLE3, target=TWO_GPUS, **FULL)
    top_level(version)(model="target", **written)


def test_the_installed_classes_are_asked_and_refuse_a_neighbour_s_key(tmp_path):
    standin = install(tmp_path / "standin", "1.2.1", pytorch=True)
    (package,) = standin.root.rglob("tensorrt_llm/llmapi")
    here = Installation(package=package.parent)
    written = args("1.2.1", EAGLE3)
    assert faults_by_classes(written, here) == ()
    written["speculative_config"]["acceptance_rate_threshold"] = 0.5
    found = faults_by_classes(written, here)
    assert found
    assert "acceptance_rate_threshold" in f"{found[0].where} {found[0].what}"
