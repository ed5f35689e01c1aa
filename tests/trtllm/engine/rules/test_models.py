"""Models that the method can be built for pass; each other one is refused."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, MODEL
from tests.trtllm.engine.rules.findings import findings, only, variant
from tests.trtllm.engine.samples import VERSIONS, recipe
from trtspec.trtllm.engine.rules.models import (
    family_is_stated_right,
    family_is_supported,
    heads_divide,
    one_kv_pool,
    rotary_scaling_is_carried,
    vocabulary_rows_for_logits,
)

QWEN = variant(MODEL, family="qwen2")
WINDOWS = variant(MODEL, layer_types=("sliding_attention", "full_attention"))


def test_family_as_stated_and_family_not_stated_pass():
    assert not findings(family_is_stated_right, recipe(), target=MODEL)
    made = recipe(target={"family": None})
    assert not findings(family_is_stated_right, made, target=QWEN)


def test_family_that_is_stated_wrong_is_refused():
    finding = only(family_is_stated_right, recipe(), target=QWEN)
    assert (finding.severity, finding.where) == ("blocking", "target.family")
    assert "family is llama, but the target model is of the family qwen2" in (
        finding.what
    )
    assert finding.action == "write family: qwen2, or delete the line"
    made = recipe("draft_target", family="qwen2")
    finding = only(family_is_stated_right, made, target=MODEL, draft=DRAFT)
    assert finding.where == "speculation.family"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("method", "family"),
    [
        ("none", "mistral"),
        ("ngram", "qwen"),
        ("draft_target", "mixtral"),
        ("medusa", "mixtral"),
        ("medusa", "qwen2"),
        ("eagle", "llama"),
        ("redrafter", "llama"),
        ("lookahead", "qwen2"),
    ],
)
def test_family_of_the_method_passes(method, family, version):
    made = recipe(method, target={"family": family})
    assert not findings(family_is_supported, made, version)
    known = variant(MODEL, family=family)
    assert not findings(family_is_supported, made, version, target=known)


@pytest.mark.parametrize(
    ("method", "family", "version", "established"),
    [
        ("medusa", "mistral", "1.2.1", "llama, mixtral, qwen2"),
        ("eagle", "qwen2", "1.2.1", "llama"),
        ("redrafter", "qwen2", "0.20.0", "llama"),
        ("redrafter", "mixtral", "1.2.1", "llama, qwen, qwen2"),
    ],
)
def test_family_that_the_method_does_not_have_is_refused(
    method, family, version, established
):
    made = recipe(method, target={"family": family})
    finding = only(family_is_supported, made, version)
    assert (finding.severity, finding.where) == ("blocking", "target.family")
    here = only(
        family_is_supported, made, version, target=variant(MODEL, family=family)
    )
    assert here == replace(finding, where="target.model")
    assert f"the target model is of the family {family}, which {method} cannot" in (
        finding.what
    )
    assert finding.what.endswith(f"on TensorRT-LLM {version}")
    assert finding.why == f"established are: {established}"


@pytest.mark.parametrize("method", ["none", "medusa", "draft_target"])
def test_stated_family_that_no_script_converts_is_refused_at_its_key(method):
    made = recipe(method, target={"family": "klingon"})
    finding = only(family_is_supported, made)
    assert (finding.severity, finding.where) == ("blocking", "target.family")
    assert finding.what == (
        "family klingon is none that TensorRT-LLM's scripts convert here"
    )
    assert finding.why.startswith("established are: llama, ")
    assert finding.action.startswith("correct target.family")
    made = recipe("draft_target", family="klingon")
    finding = only(family_is_supported, made)
    assert finding.where == "speculation.family"
    assert finding.action.startswith("correct speculation.family")


def test_redrafter_of_a_qwen_passes_from_1_0_on():
    made = recipe("redrafter", target={"family": "qwen2"})
    assert not findings(family_is_supported, made, "1.0.0")


def test_draft_model_is_judged_as_a_plain_one():
    draft = variant(DRAFT, family="gemma")
    made = recipe("draft_target")
    assert not findings(family_is_supported, made, target=MODEL, draft=DRAFT)
    finding = only(family_is_supported, made, target=MODEL, draft=draft)
    assert finding.where == "speculation.model"
    assert "the draft model is of the family gemma" in finding.what


@pytest.mark.parametrize("version", [None, "1.3.0rc21"])
def test_families_are_not_judged_where_there_is_no_engine_backend(version):
    made = recipe("eagle", target={"family": "gemma"})
    assert not findings(family_is_supported, made, version)


@pytest.mark.parametrize("size", [1, 2])
def test_divisor_of_the_heads_passes(size):
    made = recipe(target={"tensor_parallel": size})
    assert not findings(heads_divide, made, target=MODEL)


def test_tensor_parallel_that_does_not_divide_the_heads_is_refused():
    made = recipe("draft_target", target={"tensor_parallel": 4}, tensor_parallel=3)
    target, draft = findings(heads_divide, made, target=MODEL, draft=DRAFT)
    assert target.where == "target.tensor_parallel"
    assert "tensor_parallel 4 does not divide the 2 attention heads of the target" in (
        target.what
    )
    assert draft.where == "speculation.tensor_parallel"
    assert "tensor_parallel 3" in draft.what
    assert {target.severity, draft.severity} == {"blocking"}


def test_vocabularies_of_equal_rows_pass_with_logits_and_unequal_ones_without():
    made = recipe("draft_target", use_draft_logits=True)
    assert not findings(vocabulary_rows_for_logits, made, target=MODEL, draft=DRAFT)
    larger = variant(DRAFT, vocabulary_rows=24)
    plain = recipe("draft_target")
    assert not findings(vocabulary_rows_for_logits, plain, target=MODEL, draft=larger)
    assert not findings(vocabulary_rows_for_logits, made, target=MODEL)


def test_logits_of_unequal_vocabularies_are_refused_with_both_sizes():
    made = recipe("draft_target", use_draft_logits=True)
    larger = variant(DRAFT, vocabulary_rows=24)
    finding = only(vocabulary_rows_for_logits, made, target=MODEL, draft=larger)
    assert (finding.severity, finding.where) == (
        "blocking",
        "speculation.use_draft_logits",
    )
    assert "24 vocabulary rows" in finding.what
    assert finding.what.endswith("the target model 16")
    assert "use_draft_logits: false" in finding.action
    assert "-16-rows'), 16" in finding.snippet
    assert finding.values == {"target_rows": 16, "draft_rows": 24}


def test_layers_of_one_kind_pass_and_so_do_several_without_drafts():
    same = variant(MODEL, layer_types=("full_attention",) * 2)
    assert not findings(one_kv_pool, recipe("ngram"), target=same)
    assert not findings(one_kv_pool, recipe("ngram"), target=MODEL)
    assert not findings(one_kv_pool, recipe("none"), target=WINDOWS)


@pytest.mark.parametrize("method", ["ngram", "medusa", "eagle", "lookahead"])
def test_layers_of_several_kinds_are_refused(method):
    finding = only(one_kv_pool, recipe(method), target=WINDOWS)
    assert (finding.severity, finding.where) == ("blocking", "target.model")
    assert finding.what.endswith("of the types full_attention, sliding_attention")


HEADS = variant(MODEL, heads=24, kv_heads=6)


@pytest.mark.parametrize("size", [1, 2, 3, 6, 12, 24])
def test_key_value_heads_that_can_be_shared_or_copied_pass(size):
    made = recipe(target={"tensor_parallel": size})
    assert not findings(heads_divide, made, target=HEADS)


@pytest.mark.parametrize("size", [4, 8])
def test_key_value_heads_that_can_be_neither_are_refused(size):
    made = recipe(target={"tensor_parallel": size})
    finding = only(heads_divide, made, target=HEADS)
    assert (finding.severity, finding.where) == ("blocking", "target.tensor_parallel")
    assert f"tensor_parallel {size} and the 6 key-value heads" in finding.what


SCALED = variant(MODEL, rope_scaling="llama3")


@pytest.mark.parametrize("method", ["medusa", "eagle"])
def test_scaled_rotary_encoding_is_refused_where_its_factors_are_lost(method):
    finding = only(rotary_scaling_is_carried, recipe(method), target=SCALED)
    assert (finding.severity, finding.where) == ("blocking", "target.model")
    assert "(llama3), with method " in finding.what
    assert f"only the type of the scaling, not its factors (examples/{method}/" in (
        finding.why
    )


@pytest.mark.parametrize(
    ("made", "target"),
    [
        (recipe("medusa"), MODEL),
        (recipe("eagle"), None),
        (recipe("ngram"), SCALED),
        (recipe("redrafter"), SCALED),
        # quantize.py reads the model itself
        (recipe("medusa", target={"quantization": "fp8"}), SCALED),
    ],
)
def test_rotary_encoding_that_is_carried_passes(made, target):
    assert not findings(rotary_scaling_is_carried, made, target=target)


@pytest.mark.parametrize("method", ["suffix", "eagle3", "auto"])
def test_family_is_no_matter_for_a_method_that_the_backend_does_not_have(method):
    made = recipe(method, target={"family": "llama"})
    assert not findings(family_is_supported, made, "1.0.0")


QWEN3 = variant(MODEL, family="qwen3")


def test_a_family_that_no_method_here_takes_is_sent_to_pytorch_once():
    made = recipe("draft_target", target={"family": None}, family=None)
    finding = only(family_is_supported, made, target=QWEN3, draft=QWEN3)
    assert finding.where == "target.model"
    assert "the target and the draft models are of the family qwen3" in finding.what
    assert finding.action.startswith("set backend: pytorch, which has draft_target")


def test_a_method_that_takes_the_family_is_named():
    made = recipe("eagle", target={"family": None})
    finding = only(family_is_supported, made, target=QWEN)
    assert "another method: " in finding.action
    assert "medusa" in finding.action
