"""A drafter beside a quantized target: the types of both are stated."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL
from tests.models.drafters import write_eagle3
from tests.trtllm.combinations.asking import recipe
from trtspec.check.subject import Subject, key_itself
from trtspec.models.drafter import describe_drafter
from trtspec.trtllm.draft_precision import precision_of_each_model
from trtspec.trtllm.installation import Installation


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
    assert finding.what.startswith(f"target: {kind} weights, KV cache auto")
    assert finding.values["drafter_weights"] == "unknown"


def test_cache_of_the_recipe_goes_before_that_of_the_checkpoint():
    made = recipe("eagle3", options={"kv_cache": "nvfp4"})
    (finding,) = found(made, target=quantized("nvfp4", published_kv_cache="fp8"))
    assert finding.values["target_kv_cache"] == "nvfp4"


def test_next_token_heads_of_a_quantized_target_are_asked_after():
    (finding,) = found(recipe("mtp"), target=quantized("compressed-tensors"))
    assert "trtspec inspect" in finding.action
    assert "llm-compressor/issues/1843" in finding.source


@pytest.mark.parametrize("method", ["ngram", "draft_target", "suffix", "none", "pard"])
def test_drafts_that_read_no_states_are_not_spoken_of(method):
    assert not found(recipe(method), target=quantized("fp8"))


@pytest.mark.parametrize("method", ["eagle3", "mtp"])
def test_unquantized_target_is_not_spoken_of(method):
    assert not found(recipe(method), target=MODEL)
    assert not found(recipe(method))
