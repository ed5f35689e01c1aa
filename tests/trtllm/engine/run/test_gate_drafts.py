"""What an engine is refused for that does not fit the recipe's drafts."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import engine, recipe
from tests.trtllm.machines import H200
from trtspec.errors import RunError
from trtspec.trtllm.engine.run.gate_drafts import (
    require_block_reuse,
    require_dynamic_tree,
    require_logits,
    require_shape,
    vocabulary_rows,
)

WIDE = [[0], [1], [2], [0, 0], [1, 0], [2, 0]]
NEW, OLD = Version("1.2.1"), Version("0.20.0")
A100 = H200.model_copy(update={"name": "NVIDIA A100", "compute_capability": "8.0"})
UNKNOWN = H200.model_copy(update={"compute_capability": None})


def reuse(gpus=(H200,), **changes):
    require_block_reuse(engine("ngram", **changes), gpus, "target")


@pytest.mark.parametrize("gpus", [(), (H200,), (UNKNOWN,)])
@pytest.mark.parametrize("quant", ["FP8", "W4A8_AWQ", "NVFP4"])
def test_reuse_works_beside_suitable_precisions(quant, gpus):
    reuse()
    reuse(quant=quant, kv_cache_quant="FP8", gpus=gpus)


@pytest.mark.parametrize(
    ("changes", "found", "allowed"),
    [
        ({"paged_context_fmha": False}, "use_paged_context_fmha off", "enable"),
        ({"kv_cache_quant": "INT8"}, "KV cache is INT8", "auto, or fp8"),
        ({"kv_cache_quant": "FP8"}, "FP8 beside weights not quantized", "NVFP4"),
        (
            {"kv_cache_quant": "FP8", "quant": "W4A16_AWQ"},
            "beside weights W4A16_AWQ",
            "W4A8_AWQ",
        ),
        (
            {"kv_cache_quant": "FP8", "quant": "FP8", "gpus": (H200, A100)},
            "NVIDIA A100, compute capability 8.0",
            "8.9 or more",
        ),
    ],
)
def test_what_switches_reuse_off_is_refused(changes, found, allowed):
    with pytest.raises(RunError) as caught:
        reuse(**changes)
    (problem,) = caught.value.problems
    assert found in problem.what
    assert allowed in problem.allowed
    assert problem.action


def test_rows_are_padded_to_the_ranks():
    assert vocabulary_rows(engine(vocab_size=50257, tp_size=1)) == 50257
    assert vocabulary_rows(engine(vocab_size=50257, tp_size=4)) == 50260


def test_unequal_rows_are_refused_even_if_only_the_padding_differs():
    target = engine("draft_target", vocab_size=50257, tp_size=4)
    with pytest.raises(RunError, match="has 50260, the draft engine 50257") as caught:
        require_logits(target, engine(vocab_size=50257), NEW)
    assert "use_draft_logits: false" in str(caught.value)
    require_logits(target, engine(vocab_size=50257, tp_size=4), NEW)


def test_unequal_vocabularies_are_refused_even_if_padding_makes_equal_rows():
    """A draft could hold a token that the target model has not, and would be cut."""
    target = engine("draft_target", vocab_size=50257, tp_size=4)
    with pytest.raises(RunError, match=r"vocab_size.* 50257, the draft engine 50260"):
        require_logits(target, engine(vocab_size=50260), NEW)


@pytest.mark.parametrize(
    ("target", "draft", "missing"),
    [(False, True, "target"), (True, False, "draft"), (False, False, "target")],
)
def test_an_old_version_needs_both_engines_built_with_logits(target, draft, missing):
    engines = (
        engine("draft_target", gather_generation_logits=target),
        engine(gather_generation_logits=draft),
    )
    with pytest.raises(
        RunError, match=f"the {missing} engine was built with"
    ) as caught:
        require_logits(*engines, OLD)
    assert "gather_generation_logits off" in str(caught.value)
    require_logits(*engines, NEW)


def test_an_old_version_takes_engines_built_with_logits():
    built = {"gather_generation_logits": True}
    require_logits(engine("draft_target", **built), engine(**built), OLD)


def method(name, **options):
    return recipe(name, **options).speculation


def eagle_engine(layers=2, most=10):
    extras = {"num_eagle_layers": layers, "max_non_leaves_per_layer": most}
    return engine("eagle", extras=extras)


def test_a_tree_deeper_than_the_heads_is_refused():
    config = engine("medusa", extras={"num_medusa_heads": 1})
    with pytest.raises(RunError, match=r"2 levels deep.*num_medusa_heads 1"):
        require_shape(config, method("medusa"), "target")
    require_shape(engine("medusa"), method("medusa"), "target")


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("tree", [{}, {"tree": "dynamic", "dynamic_top_k": 3}])
def test_levels_of_eagle_must_equal_the_engines(layers, tree):
    with pytest.raises(RunError, match=f"drafts 2 levels.*num_eagle_layers {layers}"):
        require_shape(eagle_engine(layers), method("eagle", **tree), "target")
    require_shape(eagle_engine(), method("eagle", **tree), "target")


def test_too_many_inner_nodes_in_a_level_are_refused():
    wide = method("eagle", tree=WIDE)
    with pytest.raises(RunError, match=r"3 nodes with.*max_non_leaves_per_layer 2"):
        require_shape(eagle_engine(most=2), wide, "target")
    require_shape(eagle_engine(most=3), wide, "target")


def test_a_method_without_a_tree_has_none_to_refuse():
    require_shape(engine("ngram"), method("ngram"), "target")


def test_a_growing_tree_needs_a_version_that_knows_it():
    dynamic = method("eagle", tree="dynamic", dynamic_top_k=3)
    require_dynamic_tree(dynamic, Version("1.2.1"))
    require_dynamic_tree(method("eagle"), Version("0.17.0"))
    with pytest.raises(RunError, match=r"dynamic is not known.*0.17.0"):
        require_dynamic_tree(dynamic, Version("0.17.0"))


@pytest.mark.parametrize(
    ("own", "key"),
    [
        ({"num_beams": 3, "draft_length_per_beam": 2}, "redrafter_num_beams 3"),
        ({"draft_length_per_beam": 2}, "redrafter_draft_len_per_beam 2"),
        ({"greedy_search": False}, "redrafter_greedy_search False"),
    ],
)
def test_other_beams_than_the_engines_are_refused(own, key):
    require_shape(engine("redrafter"), method("redrafter"), "target")
    with pytest.raises(RunError, match=f"wants {key}, and the engine was built with"):
        require_shape(engine("redrafter"), method("redrafter", **own), "target")
