"""Lengths that engines are built for, against numbers worked out by hand."""

import pytest
from packaging.version import Version

from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine.sizes import (
    EngineSizes,
    draft_capacity,
    draft_sizes,
    drafts_come_from_outside,
    options,
    target_sizes,
)

CHAIN = [[0], [0, 0], [0, 0, 0]]


def sizes_of(window, ngram, verification):
    """Give lookahead's sizes by their names."""
    return {
        "window_size": window,
        "ngram_size": ngram,
        "verification_set_size": verification,
    }


@pytest.mark.parametrize(
    ("made", "sizes"),
    [
        # batch, input, sequence, tokens, draft
        (recipe("none"), EngineSizes(4, 1024, 2048, 8192, 0)),
        # a verifying request's prompt is all that was emitted: up to 2048, and behind
        # it the draft as input and, with one token more, as output
        (recipe("ngram", draft_length=4), EngineSizes(4, 2048, 2053, 8192, 4)),
        (recipe("draft_target", draft_length=5), EngineSizes(4, 2048, 2054, 8192, 5)),
        (recipe("medusa"), EngineSizes(4, 1024, 2048, 8192, 63)),
        (recipe("eagle"), EngineSizes(4, 1024, 2048, 8192, 63)),
        # 5 beams of 5 tokens
        (recipe("redrafter"), EngineSizes(4, 1024, 2048, 8192, 25)),
        # W 4, N 3, G 4: (3 - 2) + (4 - 1 + 4) * (3 - 1) = 15
        (recipe("lookahead"), EngineSizes(4, 1024, 2048, 8192, 15)),
    ],
)
def test_target_engine(made, sizes):
    assert target_sizes(made) == sizes


def test_draft_engine_has_room_for_the_draft_behind_the_longest_text():
    made = recipe("draft_target", draft_length=5)
    assert draft_sizes(made) == EngineSizes(4, 2048, 2048 + 5, 8192, 0)


@pytest.mark.parametrize(
    ("method", "fields", "capacity"),
    [
        ("ngram", {"draft_length": {8: 4, 32: 2}}, 4),
        ("lookahead", sizes_of(7, 7, 7), 83),
        ("lookahead", sizes_of(1, 2, 1), 1),
        ("redrafter", {"num_beams": 3, "draft_length_per_beam": 4}, 12),
        # what the checkpoint is converted with, not what the tree takes of it
        ("medusa", {"tree": CHAIN, "max_draft_tokens": 40}, 40),
        ("eagle", {"tree": CHAIN, "num_layers": 3, "max_draft_tokens": 40}, 40),
        ("eagle", {"tree": "dynamic", "dynamic_top_k": 2, "max_draft_tokens": 60}, 60),
    ],
)  # fmt: skip
def test_draft_capacity(method, fields, capacity):
    assert draft_capacity(recipe(method, **fields)) == capacity


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_capacity_of_drafts_from_outside_can_be_chosen(method):
    made = recipe(method, draft_length=4, engine={"max_draft_length": 10})
    assert drafts_come_from_outside(made)
    assert target_sizes(made).max_draft_len == 10
    if method == "draft_target":
        assert draft_sizes(made).max_seq_len == 2048 + 10


@pytest.mark.parametrize(
    "method", ["none", "medusa", "eagle", "redrafter", "lookahead"]
)
def test_other_drafts_do_not_come_from_outside(method):
    made = recipe(method, engine={"max_draft_length": 200})
    assert not drafts_come_from_outside(made)
    assert draft_capacity(made) != 200


@pytest.mark.parametrize(
    ("limits", "engine", "tokens"),
    [
        ({}, {}, 8192),
        # a step of the whole batch: 512 * (63 + 1)
        ({"max_batch_size": 512}, {}, 32768),
        # a whole prompt with a draft behind it
        ({"max_input_tokens": 10_000, "max_total_tokens": 10_001}, {}, 10_063),
        ({}, {"max_num_tokens": 4096}, 4096),
        # no more than the batch can have: 4 * 2048, 4 * 1152, 1 * 512
        ({}, {"max_num_tokens": 20_000}, 8192),
        ({"max_total_tokens": 1152}, {}, 4608),
        (
            {"max_batch_size": 1, "max_input_tokens": 60, "max_total_tokens": 512},
            {},
            512,
        ),
        # less than a step, 4 * 64, is raised to it
        ({}, {"max_num_tokens": 100}, 256),
    ],
)
def test_tokens_of_one_forward_hold_a_prompt_and_a_step(limits, engine, tokens):
    made = recipe("medusa", limits=limits, engine=engine)
    assert target_sizes(made).max_num_tokens == tokens


TINY = {"max_batch_size": 1, "max_input_tokens": 10, "max_total_tokens": 20}


@pytest.mark.parametrize(
    ("version", "flags", "tokens"),
    [
        ("0.17.0", {}, 64),
        ("1.2.1", {}, 32),
        ("1.2.1", {"tokens_per_block": 128}, 128),
        ("1.2.1", {"tokens_per_block": 16}, 20),
    ],
)
def test_tokens_of_one_forward_are_no_less_than_a_block(version, flags, tokens):
    made = recipe(limits=TINY, engine={"build_flags": flags})
    assert target_sizes(made, Version(version)).max_num_tokens == tokens


@pytest.mark.parametrize(
    ("version", "tokens"),
    # 256 requests, each with a draft of 5 and what is not in a whole block
    [("0.17.0", 256 * (5 + 64)), ("1.2.1", 256 * (5 + 32))],
)
def test_all_drafts_of_a_round_go_through_in_one_forward(version, tokens):
    limits = {"max_batch_size": 256}
    made = recipe("draft_target", draft_length=5, limits=limits)
    most = 16384
    assert target_sizes(made, Version(version)).max_num_tokens == min(tokens, most)
    assert draft_sizes(made, Version(version)).max_num_tokens == min(tokens, most)


def test_a_round_of_more_than_is_advised_takes_several_forwards():
    limits = {"max_batch_size": 4096}
    made = recipe("draft_target", draft_length=5, limits=limits)
    assert draft_sizes(made).max_num_tokens == 16384
    # the builder would raise less
    assert target_sizes(made).max_num_tokens == 4096 * 6
    few = recipe("ngram", limits=limits, engine={"max_num_tokens": 9000})
    assert target_sizes(few).max_num_tokens == 4096 * 5


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_longest_draft_fits_to_the_end_of_the_longest_sequence(method):
    made = recipe(method, draft_length=7)
    built = target_sizes(made)
    longest = built.max_seq_len + built.max_draft_len  # the builder adds the draft
    for emitted in range(2048):
        draft = min(7, 2048 - emitted - 1)
        # llmRequest.h, validate: input, draft, and an output of draft and one more
        assert emitted + draft + draft + 1 <= longest
        assert emitted + draft <= min(built.max_input_len, built.max_num_tokens)


def test_recipe_without_an_engine_section_has_the_defaults():
    assert recipe().engine is None
    assert options(recipe()).kv_cache == "auto"
    assert options(recipe(engine={"kv_cache": "int8"})).kv_cache == "int8"
