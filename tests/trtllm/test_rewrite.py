"""A recipe rewritten for backend pytorch: what goes, what stays, what is told."""

from __future__ import annotations

import pytest

from tests.trtllm.engine_recipes import EQUIVALENT, OTHERS, recipe
from trtspec.recipe import dump_recipe
from trtspec.trtllm.rewrite import pytorch_recipe, rewriting_notes


@pytest.mark.parametrize("method", EQUIVALENT)
def test_an_equivalent_method_stays(method):
    assert pytorch_recipe(recipe(method)).speculation.method == method


@pytest.mark.parametrize("method", OTHERS)
def test_a_method_without_equivalent_has_no_recipe(method):
    assert pytorch_recipe(recipe(method)) is None


def test_only_what_engines_have_is_taken_out_of_a_recipe():
    original = recipe("draft_target", "fp8")
    rewritten = pytorch_recipe(original)
    assert rewritten.engine is None
    assert rewritten.speculation.quantization == "none"
    assert not rewritten.speculation.use_draft_logits
    assert rewritten.speculation.tensor_parallel == 2
    assert rewritten.speculation.draft_length == {8: 4, 32: 2}
    assert rewritten.target == original.target
    assert rewritten.limits == original.limits
    assert "engine:" not in dump_recipe(rewritten)
    of_draft, of_target = rewriting_notes(original)
    assert "target.model must name a checkpoint" in of_target
    assert "draft model is taken as it is" in of_draft


def test_ngram_has_one_draft_length_there_and_the_reader_is_told():
    rewritten = pytorch_recipe(recipe("ngram"))
    assert rewritten.speculation.draft_length == 6
    assert rewritten.speculation.max_matching_ngram == 2
    (note,) = rewriting_notes(recipe("ngram"))
    assert "one draft length for every batch" in note


@pytest.mark.parametrize(
    ("quantization", "kept", "words"),
    [
        ("fp8", "fp8", "must name a checkpoint that is quantized (fp8)"),
        ("int4_awq", "int4_awq", "must name a checkpoint that is quantized (int4_awq)"),
        ("int8_sq", "none", "it has no int8_sq"),
        ("int8_wo", "none", "it has no int8_wo"),
    ],
)
def test_quantization_is_the_checkpoints_there(quantization, kept, words):
    original = recipe("none", quantization)
    assert pytorch_recipe(original).target.quantization == kept
    (note,) = rewriting_notes(original)
    assert words in note


def test_without_anything_to_note_nothing_is_noted():
    assert list(rewriting_notes(recipe("none"))) == []
