"""What the reference backend can run passes; what it cannot is refused by name."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, MODEL, subject
from tests.models.tiny import write_checkpoint
from trtspec.check.rules.model import (
    family_is_supported,
    layers_roll_back,
    stored_format,
    stored_quantization,
    tokenizer,
    wanted_options,
)
from trtspec.models.describe import describe

RULES = [
    layers_roll_back,
    family_is_supported,
    stored_format,
    stored_quantization,
    wanted_options,
]


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
    for model in (strange, replace(MODEL, family="mamba")):
        found = subject(model, backend="pytorch", target=options)
        assert not [finding for rule in RULES for finding in rule(found)]


RECURRENT_NAMED = [
    "mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm", "jamba", "bamba", "zamba",
    "zamba2", "recurrent_gemma",
]  # fmt: skip


@pytest.mark.parametrize("family", RECURRENT_NAMED)
def test_recurrent_families_are_blocking_without_layer_types(family):
    finding = only(family_is_supported(subject(replace(MODEL, family=family))))
    assert (finding.rule, finding.severity) == ("family", "blocking")
    assert f"{family}: its recurrent state cannot be rolled back" in finding.what


@pytest.mark.parametrize(
    ("family", "alibi"), [("bloom", False), ("gpt_neo", False), ("falcon", True)]
)
def test_families_with_positions_of_their_own_are_blocking(family, alibi):
    model = replace(MODEL, family=family, alibi=alibi)
    finding = only(family_is_supported(subject(model)))
    assert finding.severity == "blocking"
    assert "does not go by the positions and mask it is given" in finding.what


@pytest.mark.parametrize(
    ("family", "alibi"), [("falcon", False), ("mpt", True), ("gpt_neox", False)]
)
def test_related_families_pass(family, alibi):
    model = replace(MODEL, family=family, alibi=alibi)
    assert not list(family_is_supported(subject(model)))


def test_one_finding_is_enough_where_layer_types_say_the_same():
    found = subject(replace(MODEL, family="qwen3_next", layer_types=("linear",)))
    assert only(layers_roll_back(found))
    assert not list(family_is_supported(found))


def test_pickled_weights_are_blocking_on_the_reference_backend():
    pickled = replace(MODEL, format="torch")
    target, draft = stored_format(subject(pickled, pickled))
    assert (target.where, draft.where) == ("target.model", "speculation.model")
    assert (target.rule, target.severity) == ("stored-format", "blocking")
    assert "target model's weights are pickled" in target.what
    assert "save_pretrained" in target.action
    assert "backend tensorrt" in target.action


@pytest.mark.parametrize("backend", ["tensorrt", "pytorch"])
def test_a_gguf_is_blocking_on_tensorrt_llm(backend):
    gguf = replace(MODEL, format="gguf", quantization="q4_1")
    finding = only(stored_format(subject(gguf, backend=backend)))
    assert (finding.rule, finding.severity) == ("stored-format", "blocking")
    assert "stored as GGUF" in finding.what
    assert "safetensors or pytorch_model.bin" in finding.why


@pytest.mark.parametrize(
    ("backend", "stored"),
    [
        ("reference", "safetensors"),
        ("reference", "gguf"),
        ("tensorrt", "safetensors"),
        ("tensorrt", "torch"),
        ("pytorch", "safetensors"),
        ("pytorch", "torch"),
    ],
)
def test_a_format_that_the_backend_reads_gives_no_finding(backend, stored):
    model = replace(MODEL, format=stored)
    assert not list(stored_format(subject(model, backend=backend)))


def test_an_id_behind_the_rows_blocks_though_there_are_fewer_entries():
    finding = only(tokenizer(subject(replace(MODEL, highest_token=16))))
    assert finding.severity == "blocking"
    assert "16 entries, ids up to 16, its vocabulary 16 rows" in finding.what
    assert not list(tokenizer(subject(replace(MODEL, highest_token=15))))
