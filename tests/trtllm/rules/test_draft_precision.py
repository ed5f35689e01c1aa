"""A drafter beside a quantized target: the types of both are stated."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL
from tests.models.drafters import write_eagle3
from tests.models.large import write_headers
from tests.trtllm.combinations.asking import recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.models.drafter import describe_drafter
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.rules.draft_precision import precision_of_each_model


def found(made, **models):
    subject = Subject(made, key_itself, **models)
    return list(precision_of_each_model(Installation(), subject))


def quantized(kind, **facts):
    return replace(MODEL, quantization=kind, **facts)


def test_eagle3_head_beside_an_fp8_target(tmp_path):
    head = describe_drafter(write_eagle3(tmp_path / "head"), "eagle3")
    stored = quantized("fp8", published_kv_cache="fp8")
    (finding,) = found(recipe("eagle3"), target=stored, drafter=head)
    assert (finding.rule, finding.severity) == ("draft-precision", "note")
    assert finding.values == {
        "target_weights": "fp8",
        "target_kv_cache": "fp8",
        "drafter_weights": head.dtype,
    }
    assert f"eagle3 drafter: {head.dtype} weights" in finding.what


@pytest.mark.parametrize(
    ("method", "backend", "kind"),
    [
        ("eagle3", "pytorch", "nvfp4"),
        ("dflash", "pytorch", "fp8"),
        ("medusa", "tensorrt", "fp8"),
    ],
)
def test_quantization_that_is_asked_for_counts_before_anything_is_there(
    method, backend, kind
):
    made = recipe(method, backend=backend, target={"quantization": kind})
    (finding,) = found(made)
    cache = "fp8" if backend == "tensorrt" else made.target.dtype
    assert finding.what.startswith(f"target: {kind} weights, KV cache {cache}")
    assert finding.values["drafter_weights"] == "unknown"


def test_cache_of_the_recipe_goes_before_that_of_the_checkpoint():
    made = recipe("eagle3", options={"kv_cache": "nvfp4"})
    (finding,) = found(made, target=quantized("nvfp4", published_kv_cache="fp8"))
    assert finding.values["target_kv_cache"] == "nvfp4"


def test_next_token_heads_that_nobody_has_seen_are_not_judged():
    (finding,) = found(recipe("mtp"), target=quantized("compressed-tensors"))
    assert "is not known" in finding.what
    assert finding.values["heads_quantized"] is None
    assert finding.action.startswith("check again")
    assert "llm-compressor/issues/1843" in finding.source


@pytest.mark.parametrize("dtype", ["F8_E4M3", "BF16"])
def test_whether_next_token_heads_are_quantized_is_told_by_their_tensors(
    tmp_path, dtype
):
    names = {"model.layers.2.eh_proj.weight": (8, 16)}
    write_headers(tmp_path, {}, names, dtype=dtype)
    target = quantized("fp8", directory=tmp_path)
    (finding,) = found(recipe("mtp"), target=target)
    assert finding.values["heads_quantized"] is (dtype == "F8_E4M3")
    assert ("not quantized" in finding.what) is (dtype == "BF16")
    assert bool(finding.action) is (dtype == "F8_E4M3")


@pytest.mark.parametrize("method", ["ngram", "draft_target", "suffix", "none", "pard"])
def test_drafts_that_read_no_states_are_not_spoken_of(method):
    assert not found(recipe(method), target=quantized("fp8"))


@pytest.mark.parametrize("method", ["eagle3", "mtp"])
def test_unquantized_target_is_not_spoken_of(method):
    assert not found(recipe(method), target=MODEL)
    assert not found(recipe(method))


def test_the_cache_is_the_one_that_memory_is_planned_with():
    engines = recipe("medusa", backend="tensorrt", target={"quantization": "fp8"})
    (finding,) = found(engines)
    assert finding.values["target_kv_cache"] == "fp8"
