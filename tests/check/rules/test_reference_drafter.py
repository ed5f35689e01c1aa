"""What the reference engine could not draft with is told, with both values."""

from dataclasses import replace

import pytest

from tests.check.rules.drafters import DFLASH, EAGLE, EAGLE3, MEDUSA, only
from tests.check.samples import MODEL, recipe
from trtspec.check.rules.drafter import drafter_vocabulary, eagle_bias, hidden_size
from trtspec.check.rules.drafter import medusa_heads as heads_of_tensorrt
from trtspec.check.rules.reference_drafter import (
    block_is_told,
    drafter_context,
    drafter_weights,
    mask_token_exists,
    tree_depth,
)
from trtspec.check.rules.reference_layers import captured_by_block, captured_by_head
from trtspec.check.rules.trained_drafter import (
    captured_layers,
    drafter_block,
    mask_token,
)
from trtspec.check.subject import Subject, key_itself

TREE = [[0], [0, 0], [0, 0, 0]]
PARAMETERS = {
    "medusa": {"tree": TREE},
    "eagle": {"num_layers": 3, "tree": TREE},
    "eagle3": {"draft_length": 4},
    "dflash": {"draft_length": 4},
}
TARGET = replace(MODEL, layers=16)
RULES = (
    hidden_size,
    drafter_vocabulary,
    heads_of_tensorrt,
    eagle_bias,
    tree_depth,
    captured_layers,
    captured_by_head,
    captured_by_block,
    block_is_told,
    mask_token,
    mask_token_exists,
    drafter_weights,
    drafter_context,
)


def fitted(drafter, target=TARGET, *, backend="reference", limits=None, **method):
    """Make what the rules look at."""
    speculation = {"method": drafter.kind, "model": "./d", **PARAMETERS[drafter.kind]}
    made = recipe(
        backend=backend,
        speculation={**speculation, **method},
        **({"limits": limits} if limits else {}),
    )
    return Subject(made, key_itself, target, drafter=drafter)


@pytest.mark.parametrize(
    "drafter", [MEDUSA, EAGLE, EAGLE3, DFLASH], ids=lambda d: d.kind
)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_drafter_that_fits_gives_no_finding(rule, drafter):
    assert not list(rule(fitted(drafter)))


@pytest.mark.parametrize("drafter", [MEDUSA, EAGLE3, DFLASH], ids=lambda d: d.kind)
@pytest.mark.parametrize(
    "rule", [tree_depth, captured_by_head, captured_by_block, block_is_told,
             drafter_weights, drafter_context], ids=lambda rule: rule.__name__
)  # fmt: skip
def test_other_backends_are_left_to_their_own_rules(rule, drafter):
    wrong = replace(
        drafter, heads=1, target_layers=(99,), block_size=None, family="x",
        quantization="fp8", context_length=8,
    )  # fmt: skip
    assert not list(rule(fitted(wrong, backend="pytorch")))


def test_a_tree_deeper_than_the_heads_is_refused():
    found = only(tree_depth(fitted(replace(MEDUSA, heads=2))))
    assert (found.severity, found.where) == ("blocking", "speculation.tree")
    assert found.what == (
        "the tree is 3 levels deep, and the checkpoint has 2 Medusa heads"
    )
    assert "up to 2 levels" in found.why
    assert found.action == "choose a flatter tree, or a checkpoint with more heads"


def test_what_a_configuration_says_of_pickled_heads_may_be_wrong():
    found = only(tree_depth(fitted(replace(MEDUSA, heads=2, format="torch"))))
    assert found.severity == "warning"
    assert found.what.endswith("2 Medusa heads by its config.json")


def test_a_head_of_a_target_with_fewer_layers_is_refused():
    found = only(captured_by_head(fitted(EAGLE3, replace(MODEL, layers=12))))
    assert (found.severity, found.where) == (
        "blocking",
        "speculation.layers_to_capture",
    )
    assert found.what == (
        "the drafter's config.json names layer 15, and the target model has 12 layers"
    )
    assert found.why == "expected: layers from 0 to 11"


def test_layers_of_the_recipe_go_before_those_of_the_head():
    named = {"layers_to_capture": [1, 5, -1]}
    small = replace(MODEL, layers=12)
    assert not list(captured_by_head(fitted(EAGLE3, small, **named)))
    found = only(captured_by_head(fitted(EAGLE3, layers_to_capture=[1, 5])))
    assert found.what == (
        "layers_to_capture names 2 layers, and the head reads 3 hidden states"
    )


@pytest.mark.parametrize(
    ("states", "layers", "known"),
    [(3, 16, True), (3, 6, True), (3, 5, False), (1, 2, True), (4, 16, False)],
)
def test_without_named_layers_only_the_usual_three_are_known(states, layers, known):
    head = replace(EAGLE3, target_layers=None, captured_states=states)
    found = list(captured_by_head(fitted(head, replace(MODEL, layers=layers))))
    assert bool(found) is not known
    if found:
        assert f"the {states} hidden states" in found[0].what
        assert "set speculation.layers_to_capture" in found[0].action


def test_a_head_of_its_own_width_is_held_against_the_targets():
    head = replace(
        EAGLE3, hidden_size=None, captured_states=None, target_layers=None,
        fused_values=3 * MODEL.hidden_size,
    )  # fmt: skip
    subject = fitted(head)
    assert not list(hidden_size(subject)) + list(captured_by_head(subject))
    found = only(hidden_size(fitted(replace(head, fused_values=20))))
    assert found.severity == "blocking"
    assert found.what.endswith("20 values, no whole number of the target model's "
                               "hidden states of 8")  # fmt: skip
    four = fitted(replace(head, fused_values=4 * MODEL.hidden_size))
    assert "the 4 hidden states" in only(captured_by_head(four)).what


def test_rows_that_differ_are_no_obstacle_to_the_engine():
    found = only(drafter_vocabulary(fitted(replace(MEDUSA, vocabulary_rows=15))))
    assert found.severity == "warning"
    assert "hardly a draft is accepted" in found.why


def test_a_dflash_drafter_without_its_block_or_mask_is_refused():
    bare = fitted(replace(DFLASH, block_size=None, mask_token=None, family=None))
    blocks = list(block_is_told(bare))
    assert [f.severity for f in blocks] == ["blocking", "blocking"]
    assert "model_type None" in blocks[0].what
    assert "no block_size" in blocks[1].what
    assert only(mask_token(bare)).severity == "blocking"
    assert not list(
        mask_token(fitted(replace(DFLASH, mask_token=None), mask_token_id=3))
    )


def test_a_dflash_drafter_of_a_larger_target_is_refused():
    found = only(captured_by_block(fitted(DFLASH, MODEL)))
    assert (found.severity, found.where) == ("blocking", "speculation.target_layers")
    assert "names layer 8, and the target model has 2 layers" in found.what


def test_quantized_weights_are_refused_by_name_or_type():
    named = only(drafter_weights(fitted(replace(EAGLE3, quantization="gptq"))))
    typed = only(drafter_weights(fitted(replace(EAGLE3, dtype="float8_e4m3"))))
    assert (named.severity, typed.severity) == ("blocking", "blocking")
    assert "quantized with gptq" in named.what
    assert "quantized with float8_e4m3" in typed.what


def test_pickled_weights_are_read_by_build_and_said_so():
    head = replace(EAGLE3, format="torch", files=("pytorch_model.bin",))
    found = only(drafter_weights(fitted(head)))
    assert found.severity == "note"
    assert "(pytorch_model.bin)" in found.what
    assert "weights_only" in found.why


def test_sequences_longer_than_the_head_was_made_for_are_pointed_at():
    head = replace(EAGLE3, context_length=2048)
    limits = {"max_input_tokens": 100, "max_total_tokens": 2049}
    found = only(drafter_context(fitted(head, limits=limits)))
    assert (found.severity, found.where) == ("warning", "limits.max_total_tokens")
    assert "2049 is above the 2048 tokens" in found.what
    limits["max_total_tokens"] = 2048
    assert not list(drafter_context(fitted(head, limits=limits)))


def test_a_mask_token_without_a_row_is_refused():
    found = only(mask_token_exists(fitted(DFLASH, mask_token_id=16)))
    assert (found.severity, found.where) == ("blocking", "speculation.mask_token_id")
    assert found.what == (
        "the mask token is 16, and the target model has 16 vocabulary rows"
    )
    pard = {"method": "pard", "model": "./d", "draft_length": 2}
    draft = replace(MODEL, mask_token=16)
    subject = Subject(recipe(speculation=pard), key_itself, MODEL, draft)
    assert "the draft model has 16" in only(mask_token_exists(subject)).what
    draft = replace(draft, vocabulary_rows=17)
    subject = Subject(recipe(speculation=pard), key_itself, MODEL, draft)
    assert not list(mask_token_exists(subject))


@pytest.mark.parametrize(("block", "fits"), [(1, False), (2, True), (10**7, False)])
def test_a_block_needs_room_for_a_draft_and_no_more_than_that(block, fits):
    made = fitted(replace(DFLASH, block_size=block), draft_length=1)
    found = list(block_is_told(made))
    assert bool(found) is not fits
    assert not list(drafter_block(made))
    if found:
        assert (found[0].severity, found[0].where) == ("blocking", "speculation.model")
        assert f"block_size {block}" in found[0].what
        assert "expected: 2 to 257" in found[0].why


@pytest.mark.parametrize("dtype", ["int32", "complex64"])
def test_weights_that_are_no_plain_numbers_are_refused(dtype):
    found = only(drafter_weights(fitted(replace(MEDUSA, dtype=dtype))))
    assert found.severity == "blocking"
    assert found.what == f"the medusa drafter's weights are stored as {dtype}"
    assert "float64" in found.why
