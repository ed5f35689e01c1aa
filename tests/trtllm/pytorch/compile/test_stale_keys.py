"""Keys of other releases, and flags of the command line: told what to write."""

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.compile.recipes import EAGLE3, VERSIONS, compiled
from trtspec.trtllm.facts.llm_args import TOP_LEVEL, keys
from trtspec.trtllm.facts.stale_keys import stale_key, stale_keys, versions_with

SPEC = "speculative_config"


def refused(version, key, value=True, inside=""):
    args = {inside: {key: value}} if inside else {key: value}
    made = compiled(version, EAGLE3, pytorch={"llm_args": args})
    (found,) = (one for one in made.remarks if one.rule == "llm-args")
    assert found.severity == "blocking"
    return found


@pytest.mark.parametrize(
    ("version", "key", "inside", "action"),
    [
        ("1.2.1", "use_cuda_graph", "", "write pytorch.cuda_graphs"),
        ("1.4.0rc4", "autotuner_enabled", "", "write enable_autotuner"),
        ("1.0.0", "pytorch_weights_path", SPEC, "write speculation.model"),
        ("1.4.0rc4", "use_sa_spec", SPEC, "write speculation.suffix"),
        ("1.4.0rc4", "draft_tp_size", SPEC, "delete it: the draft model"),
        ("1.1.0", "tp_size", "", "write target.tensor_parallel"),
        ("1.2.1", "extra_llm_api_options", "", "write the keys of that file here"),
    ],
)  # fmt: skip
def test_stale_key_leads_to_what_to_write(version, key, inside, action):
    found = refused(version, key, inside=inside)
    assert f"TensorRT-LLM {version} has no key" in found.what
    assert found.action.startswith(action)


@pytest.mark.parametrize(
    ("version", "key", "ranges"),
    [
        ("1.2.1", "enable_trtllm_sampler", ">=1.0,<1.1"),
        ("1.0.0", "return_perf_metrics", ">=1.1"),
        ("1.0.0", "kv_connector_config", ">=1.1"),
    ],
)
def test_key_of_other_versions_is_told_with_its_versions(version, key, ranges):
    assert refused(version, key).why.endswith(f"is one of TensorRT-LLM {ranges}")


def test_near_key_is_proposed_where_no_version_has_the_key():
    found = refused("1.2.1", "enable_autotunar")
    assert found.action == "did you mean enable_autotuner?"
    assert found.why == "it refuses unknown keys"


def test_key_of_the_newest_releases_that_is_ignored_there_is_refused():
    found = refused("1.4.0rc4", "sampler_type", "auto")
    assert found.what == "sampler_type is deprecated in TensorRT-LLM 1.4.0rc4"


def test_no_stale_key_at_the_top_is_one_that_every_version_reads():
    for stale in stale_keys():
        if not stale.inside:
            known = [stale.name in keys(TOP_LEVEL, Version(v)) for v in VERSIONS]
            assert not all(known), stale.name


def test_names_are_looked_up_where_they_stand():
    assert stale_key(("speculative_config", "use_sa_spec"))
    assert stale_key(("use_sa_spec",)) is None
    assert stale_key(("tp_size",)).source
    assert versions_with(TOP_LEVEL, "no_such_key") == ()
