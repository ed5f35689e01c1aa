"""How many tokens one forward takes, and what 1.2 adds to a sequence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from tests.trtllm.pytorch.compile.recipes import (
    DRAFT_TARGET,
    EAGLE3,
    NEWEST,
    NONE,
    PARD,
    SUFFIX,
    args,
    compiled,
    recipe,
    refusal,
    target,
    the_remark,
)
from trtspec.trtllm.pytorch.compile.sizes import draft_room
from trtspec.trtllm.pytorch.compile.subject import Subject


def limits(batch, longest_input=1000, total=20_000):
    return {
        "max_batch_size": batch,
        "max_input_tokens": longest_input,
        "max_total_tokens": total,
    }


def tokens(speculation, batch, **pytorch):
    made = args(NEWEST, speculation, limits=limits(batch), pytorch=pytorch)
    return made["max_num_tokens"]


def test_a_prompt_fits_beside_a_step_of_all_other_requests():
    assert tokens({**EAGLE3, "draft_length": 4}, 4096) == 4095 * 5 + 1000
    assert tokens(NONE, 4096) == 8192
    assert tokens({**PARD, "draft_length": 8}, 1024) == 1023 * 16 + 1000


def test_a_tree_counts_with_all_its_nodes():
    tree = {**EAGLE3, "draft_length": 4, "tree": "dynamic", "tree_top_k": 8}
    assert tokens(tree, 1024) == 1023 * 33 + 1000


def test_a_split_prompt_needs_one_block_of_the_cache():
    asked = {**EAGLE3, "draft_length": 4}
    assert tokens(asked, 4096, chunked_prefill=True) == 4095 * 5 + 32


def test_small_servers_get_the_default_or_all_that_they_can_have():
    assert tokens(NONE, 8) == 8192
    small = args(NEWEST, NONE, limits=limits(2, 100, 200))
    assert small["max_num_tokens"] == 400


@given(
    batch=st.integers(1, 4096), length=st.integers(1, 16), prompt=st.integers(1, 9000)
)
def test_every_request_can_decode_in_one_step(batch, length, prompt):
    made = compiled(
        "1.2.1", {**DRAFT_TARGET, "draft_length": length}, limits=limits(batch, prompt)
    )
    most = made.args.to_dict()["max_num_tokens"]
    # TensorRT-LLM counts no batch as larger than this (speculative/drafter.py)
    assert most // (1 + length) >= batch
    assert most >= prompt


def test_the_recipe_s_own_number_is_taken():
    assert tokens(EAGLE3, 8, max_num_tokens=2000) == 2000


def test_a_prompt_that_does_not_fit_is_refused_unless_it_is_split():
    sections = {"limits": limits(8, 3000)}
    remark = refusal(NEWEST, EAGLE3, pytorch={"max_num_tokens": 2000}, **sections)
    assert remark.key == ("pytorch", "max_num_tokens")
    assert "3028" in remark.action
    split = {"max_num_tokens": 2000, "chunked_prefill": True}
    assert not compiled(NEWEST, EAGLE3, pytorch=split, **sections).remarks


def test_a_step_that_does_not_fit_is_named():
    pytorch = {"max_num_tokens": 1000}
    made = compiled(NEWEST, EAGLE3, limits=limits(256), pytorch=pytorch)
    assert "1024" in the_remark(made, "num-tokens").what


@pytest.mark.parametrize(
    ("speculation", "pytorch", "room"),
    [
        ({**EAGLE3, "draft_length": 4}, {}, 4 + 5 + 3),
        ({**EAGLE3, "draft_length": 4}, {"overlap_scheduler": False}, 4 + 3),
        ({**DRAFT_TARGET, "draft_length": 4}, {}, 4 + 5),
        ({**DRAFT_TARGET, "draft_length": {8: 4, 16: 2}}, {}, 4),
    ],
)
def test_1_2_adds_the_draft_to_the_longest_sequence(speculation, pytorch, room):
    made = recipe(speculation, pytorch=pytorch)
    assert draft_room(Subject(made, Version("1.2.1"), "1.2")) == room


def test_a_context_without_that_room_is_named_with_what_fits():
    made = compiled("1.2.1", EAGLE3, target(context_length=8192))
    remark = the_remark(made, "context")
    assert remark.key == ("limits", "max_total_tokens")
    assert remark.action == "write max_total_tokens: 8183"
    for version, context in (("1.2.1", 8201), ("1.2.1", None), (NEWEST, 8192)):
        assert not compiled(version, EAGLE3, target(context_length=context)).remarks
    assert not compiled("1.2.1", NONE, target(context_length=8192)).remarks


def test_without_room_for_any_draft_fewer_tokens_are_advised():
    limits = {"max_batch_size": 8, "max_input_tokens": 60, "max_total_tokens": 64}
    made = compiled("1.2.1", EAGLE3, target(context_length=64), limits=limits)
    assert the_remark(made, "context").action.startswith("draft fewer tokens")
    tiny = {"max_batch_size": 1, "max_input_tokens": 1, "max_total_tokens": 2}
    long = {**EAGLE3, "draft_length": 64}
    made = compiled("1.2.1", long, target(context_length=2), limits=tiny)
    assert "-" not in the_remark(made, "context").action


def test_a_method_that_the_release_lacks_needs_no_room():
    made = compiled("1.2.1", SUFFIX, target(context_length=8192))
    assert [remark.rule for remark in made.remarks] == ["method"]
