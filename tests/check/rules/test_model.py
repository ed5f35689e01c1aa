"""What the reference backend can run passes; what it cannot is refused by name."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, MODEL, subject
from tests.models.tiny import write_checkpoint
from trtspec.check.rules.model import (
    layers_roll_back,
    stored_quantization,
    tokenizer,
    wanted_options,
)
from trtspec.models.describe import describe

RULES = [layers_roll_back, stored_quantization, wanted_options]


def only(findings):
    (finding,) = findings
    return finding


def test_a_plain_model_gives_no_finding():
    found = subject(MODEL, DRAFT)
    assert not [finding for rule in (*RULES, tokenizer) for finding in rule(found)]


def test_more_tokens_than_rows_are_blocking():
    found = subject(replace(MODEL, tokenizer_entries=17))
    finding = only(tokenizer(found))
    assert finding.severity == "blocking"
    assert finding.where == "target.model"
    assert "17 entries, its vocabulary 16 rows" in finding.what


def test_fewer_tokens_than_rows_are_padding():
    assert not list(tokenizer(subject(replace(MODEL, vocabulary_rows=64))))


def test_a_checkpoint_without_tokenizer_is_blocking(tmp_path):
    directory = write_checkpoint(tmp_path)
    (directory / "tokenizer.json").unlink()
    finding = only(tokenizer(subject(describe(directory))))
    assert finding.severity == "blocking"
    assert "target model comes without a tokenizer" in finding.what
    assert "tokenizer.json" in finding.why


def test_a_tokenizer_that_lists_no_tokens_is_one_all_the_same(tmp_path):
    directory = write_checkpoint(tmp_path)
    (directory / "tokenizer.json").rename(directory / "tokenizer.model")
    assert not list(tokenizer(subject(describe(directory))))


def test_a_gguf_without_tokens_is_blocking():
    gguf = replace(MODEL, tokenizer_entries=None, format="gguf")
    assert only(tokenizer(subject(MODEL, gguf))).where == "speculation.model"


def test_attention_of_both_kinds_can_be_rolled_back():
    kinds = ("full_attention", "sliding_attention")
    assert not list(layers_roll_back(subject(replace(MODEL, layer_types=kinds))))


def test_other_layers_are_blocking_by_their_names():
    kinds = ("full_attention", "linear_attention", "mamba", "mamba")
    finding = only(layers_roll_back(subject(replace(MODEL, layer_types=kinds))))
    assert finding.severity == "blocking"
    assert "layers of type linear_attention, mamba" in finding.what


def test_a_quantized_gguf_is_converted_and_noted():
    model = replace(MODEL, quantization="q4_1", format="gguf")
    found = subject(model, target={"dtype": "float32"})
    finding = only(stored_quantization(found))
    assert finding.severity == "note"
    assert "stored as q4_1" in finding.what
    assert "to float32" in finding.what


@pytest.mark.parametrize("method", ["gptq", "fp8"])
def test_other_quantized_weights_are_blocking(method):
    found = subject(replace(MODEL, quantization=method))
    finding = only(stored_quantization(found))
    assert finding.severity == "blocking"
    assert f"quantized with {method}" in finding.what


def test_quantizing_and_splitting_are_refused_each_at_its_key():
    found = subject(target={"quantization": "fp8", "tensor_parallel": 2})
    quantization, parallel = wanted_options(found)
    assert quantization.severity == parallel.severity == "blocking"
    assert quantization.where == "target.quantization"
    assert "fp8" in quantization.what
    assert parallel.where == "target.tensor_parallel"
    assert parallel.action == "set target.tensor_parallel to 1"


def test_on_other_backends_none_of_this_applies():
    strange = replace(MODEL, quantization="fp8", layer_types=("mamba",))
    options = {"quantization": "fp8", "tensor_parallel": 2}
    found = subject(strange, backend="pytorch", target=options)
    assert not [finding for rule in RULES for finding in rule(found)]
