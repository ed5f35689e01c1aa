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
    assert "build quantizes the target model (fp8)" in of_target
    assert "draft model is taken as it is" in of_draft


def test_a_map_of_ngrams_draft_lengths_stays_and_the_reader_is_told_of_1_3():
    original = with_lengths({2: 8, 8: 4})
    rewritten = pytorch_recipe(original)
    assert rewritten.speculation.draft_length == {2: 8, 8: 4}
    assert rewritten.speculation.max_matching_ngram == 2
    (note,) = rewriting_notes(original)
    assert note.startswith("on 1.3 and newer ngram has one draft length")
    assert note.endswith("draft_length: 8 there")
    assert not list(rewriting_notes(original, by_batch=False))


@pytest.mark.parametrize("length", [8, {2: 8}, {2: 8, 4: 8, 9: 8}, {9: 8, 12: 4}])
def test_where_the_newest_releases_can_have_a_map_nothing_is_noted(length):
    assert not list(rewriting_notes(with_lengths(length)))


def with_lengths(length):
    original = recipe("ngram")
    speculation = original.speculation.model_copy(update={"draft_length": length})
    limits = original.limits.model_copy(update={"max_batch_size": 8})
    return original.model_copy(update={"speculation": speculation, "limits": limits})


@pytest.mark.parametrize(
    ("quantization", "kept", "words"),
    [
        ("fp8", "fp8", "quantizes the target model (fp8) with NVIDIA ModelOpt"),
        (
            "int4_awq",
            "int4_awq",
            "quantizes the target model (int4_awq) with NVIDIA ModelOpt",
        ),
        ("int8_sq", "none", "it has no int8_sq"),
        ("int8_wo", "none", "it has no int8_wo"),
    ],
)
def test_quantization_is_a_checkpoints_there(quantization, kept, words):
    original = recipe("none", quantization)
    assert pytorch_recipe(original).target.quantization == kept
    (note,) = rewriting_notes(original)
    assert words in note


def test_without_anything_to_note_nothing_is_noted():
    assert list(rewriting_notes(recipe("none"))) == []
