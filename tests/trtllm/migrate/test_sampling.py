"""What requests with a temperature get is kept, or the reader is told."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import about, eagle3, move, spec_of
from trtspec.recipe import Recipe
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.pytorch.compile import compile_args

NGRAM = {"decoding_type": "NGram", "max_draft_len": 4, "max_matching_ngram_size": 2}
MTP = {"decoding_type": "MTP", "max_draft_len": 1}
SAVED = {
    "decoding_type": "SaveState",
    "output_directory": "/data",
    "eagle3_layers_to_capture": [1],
}


def told(moved) -> list[str]:
    changes = about(moved, "decoding_type", "warned")
    return [c.reason for c in changes if "of sampled requests" in c.reason]


def test_1_2_is_told_to_sample_as_main_does():
    moved = move(eagle3("main"), "main", "1.2")
    assert spec_of(moved)["allow_advanced_sampling"] is True
    assert not told(moved)


def test_main_samples_by_itself():
    moved = move(eagle3("1.2", allow_advanced_sampling=True), "1.2", "main")
    assert "allow_advanced_sampling" not in spec_of(moved)
    assert not told(moved)


@pytest.mark.parametrize(
    ("spec", "source", "target"),
    [
        (eagle3("1.2"), "1.2", "main"),
        (eagle3("1.0"), "1.0", "main"),
        (NGRAM, "1.0", "1.1"),
        (eagle3("main"), "main", "1.1"),
        (NGRAM, "main", "1.0"),
        (eagle3("1.2", allow_advanced_sampling=True), "1.2", "1.1"),
    ],
)
def test_a_change_of_what_is_sampled_is_told(spec, source, target):
    assert told(move(spec, source, target))


@pytest.mark.parametrize(
    ("spec", "source", "target"),
    [
        (eagle3("1.0"), "1.0", "1.2"),
        (NGRAM, "1.2", "main"),
        (NGRAM, "1.1", "1.1"),
        (eagle3("1.2", eagle3_one_model=False), "1.2", "main"),
        (SAVED, "1.2", "main"),
    ],
)
def test_nothing_is_told_where_nothing_changes(spec, source, target):
    assert not told(move(spec, source, target))


@pytest.mark.parametrize(
    ("spec", "source", "target", "unknown"),
    [
        (MTP, "main", "1.2", "what 1.2 does"),
        ({**MTP, "allow_advanced_sampling": True}, "1.2", "main", "what 1.2 did"),
        (NGRAM, "1.1", "main", "what 1.1 did"),
        (NGRAM, "1.2", "1.1", "what 1.1 does"),
        (eagle3("1.1", eagle3_one_model=False), "1.1", "1.2", "what 1.1 did"),
    ],
)
def test_what_no_source_settles_is_not_promised(spec, source, target, unknown):
    (text,) = told(move(spec, source, target))
    assert unknown in text
    assert "is not established" in text
    assert text.endswith("may change")


@pytest.mark.parametrize(
    ("spec", "target", "why"),
    [
        (eagle3("main"), "1.0", "decodes greedily"),
        (eagle3("main"), "1.1", "decodes greedily"),
        (eagle3("main"), "1.2", "as exact"),
        (MTP, "1.2", "not established"),
    ],
)
def test_rejection_sampling_goes_before_main(spec, target, why):
    moved = move({**spec, "use_rejection_sampling": True}, "main", target)
    assert "use_rejection_sampling" not in spec_of(moved)
    (change,) = about(moved, "use_rejection_sampling", "removed")
    assert why in change.reason


@pytest.mark.parametrize(
    ("target", "more", "blocked"),
    [
        ("1.0", {"eagle3_one_model": False}, True),
        ("1.1", {}, True),
        ("1.1", {"eagle3_one_model": False}, False),
        ("1.2", {}, False),
        ("main", {}, False),
    ],
)
def test_guided_decoding_is_blocked_where_speculation_cannot_have_it(
    target, more, blocked
):
    spec = eagle3("1.1", **more)
    moved = move(spec, "1.1", target, guided_decoding_backend="xgrammar")
    assert bool(about(moved, "guided_decoding_backend", "blocked")) is blocked


def test_guided_decoding_without_speculation_is_left_alone():
    moved = move(None, "1.1", "1.0", guided_decoding_backend="xgrammar")
    assert not moved.alters
    assert not moved.is_blocked


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "speculation",
    [
        {"method": "ngram"},
        {"method": "draft_target", "model": "org/small"},
        {"method": "eagle3", "model": "org/head"},
        {"method": "eagle3", "model": "org/head", "two_model": True},
    ],
)
def test_guided_decoding_is_allowed_where_a_recipe_may_have_it(family, speculation):
    recipe = Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "guided",
            "backend": "pytorch",
            "target": {"model": "org/llama"},
            "speculation": {"draft_length": 4, **speculation},
            "pytorch": {"guided_decoding": "xgrammar"},
        }
    )
    compiled = compile_args(recipe, newest_of(family))
    refused = any(r.rule == "guided-decoding" for r in compiled.remarks)
    written = compiled.args.to_dict()
    moved = move(
        written["speculative_config"],
        family,
        family,
        guided_decoding_backend="xgrammar",
    )
    assert bool(about(moved, "guided_decoding_backend", "blocked")) is refused
