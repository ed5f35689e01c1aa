"""Documented limits, targets per method, and what a config.json says."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers import DRIVEN, WITHOUT_BACKEND
from trtspec.trtllm import facts

METHODS = {"none", "draft_target", "ngram", "medusa", "eagle", "redrafter", "lookahead"}
"""Those of the engine backend; the backend pytorch has facts of its own."""


def test_limits_have_names_of_their_own_and_bind_known_methods():
    names = [limit.name for limit in facts.constraints()]
    assert len(names) == len(set(names))
    for limit in facts.constraints():
        assert set(limit.methods) <= METHODS
        assert limit.rule


def test_every_method_with_a_drafter_has_limits():
    bound = {method for limit in facts.constraints() for method in limit.methods}
    assert bound >= METHODS - {"none"}


def test_messages_of_limits_are_known_failures_where_there_is_one():
    told = [failure.example for failure in facts.failures()]
    named = {"draft_capacity", "draft_length", "block_reuse", "empty_draft"}
    for limit in facts.constraints():
        if limit.name in named:
            assert any(limit.fragment in example for example in told), limit.name


@pytest.mark.parametrize("version", DRIVEN, ids=str)
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_method_takes_llama(method, version):
    assert "llama" in facts.targets(method, version)


def test_families_that_a_method_does_not_take():
    for version in DRIVEN:
        assert facts.targets("eagle", version) == {"llama"}
        assert "mistral" not in facts.targets("medusa", version)
        assert "qwen2" in facts.targets("medusa", version)
        assert "gemma" not in facts.targets("draft_target", version)


def test_redrafter_takes_qwen_from_1_0():
    assert facts.targets("redrafter", Version("0.21.0")) == {"llama"}
    assert facts.targets("redrafter", Version("1.0.0")) == {"llama", "qwen", "qwen2"}


def test_unknown_method_and_version_without_backend_take_nothing():
    assert facts.targets("guessing", DRIVEN[0]) == frozenset()
    for version in WITHOUT_BACKEND:
        assert facts.targets("ngram", version) == frozenset()


def test_modes_are_bits():
    modes = facts.modes()
    assert modes == {
        "none": 1,
        "draft_tokens_external": 2,
        "medusa": 4,
        "lookahead_decoding": 8,
        "explicit_draft_tokens": 16,
        "eagle": 32,
    }
    modes.clear()
    assert facts.modes()


def test_each_method_has_its_mode_and_architecture():
    known = facts.architectures()
    assert set(known) == METHODS
    assert all(entry.mode in facts.modes() for entry in known.values())
    assert all(name == entry.method for name, entry in known.items())
    assert known["eagle"].architectures == ("EagleForCausalLM",)
    assert known["ngram"].mode == known["draft_target"].mode
    assert "redrafter_num_beams" in known["redrafter"].keys


@pytest.mark.parametrize(
    ("name", "number"),
    [("eagle_batch", 512), ("many_num_tokens", 16384), ("nvfp4_hardware", 100)],
)
def test_number_of_a_limit(name, number):
    assert facts.number_of(name) == number


def test_number_in_a_rule_is_the_one_that_is_told():
    for limit in facts.constraints():
        is_capability = limit.number is not None and "capability" in limit.rule
        told = f"{(limit.number or 0) / 10}" if is_capability else str(limit.number)
        is_advice = limit.name == "many_num_tokens"
        assert limit.number is None or is_advice or told in limit.rule, limit.name


@pytest.mark.parametrize(
    ("version", "tokens"),
    [("0.17.0", 64), ("0.18.2", 64), ("0.19.0", 32), ("1.2.1", 32)],
)
def test_tokens_of_a_block_became_fewer(version, tokens):
    assert facts.tokens_per_block(Version(version)) == tokens
    assert facts.tokens_per_block(None) == 64
