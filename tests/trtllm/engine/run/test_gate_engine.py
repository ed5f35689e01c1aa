"""What any engine is refused for: both values, what is allowed, what to do."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import MODES, engine, recipe
from trtspec.errors import BackendUnavailableError, RunError
from trtspec.trtllm.engine.run import gate_engine as gate

WHERE = "target engine"


def refused(call, *arguments, **named):
    with pytest.raises(RunError) as caught:
        call(*arguments, **named)
    (problem,) = caught.value.problems
    assert problem.where == WHERE
    assert problem.allowed
    assert problem.action
    return f"{problem.what} / {problem.allowed}"


@pytest.mark.parametrize("method", MODES)
def test_each_method_runs_on_the_engine_built_for_it_alone(method):
    name, bit = gate.engine_mode(recipe(method).speculation)
    gate.require_mode(engine(method), name, bit, where=WHERE)
    for other in MODES:
        if engine(other).mode != bit:
            text = refused(gate.require_mode, engine(other), name, bit, where=WHERE)
            assert f"{bit} ({name})" in text
            assert f"speculative_decoding_mode {engine(other).mode} (" in text


@pytest.mark.parametrize("mode", [64, 128, 256, 512])
def test_modes_of_the_other_api_are_no_engines_of_ours(mode):
    config = engine("ngram", mode=mode)
    text = refused(gate.require_mode, config, "draft_tokens_external", 2, where=WHERE)
    assert f"{mode} (a mode that this backend does not have)" in text


def test_a_draft_engine_is_a_plain_one():
    assert gate.plain_mode() == ("none", 1)


@pytest.mark.parametrize("built", ["0.20.0", "1.2.1.post1", "1.2.0", "unknown"])
def test_an_engine_of_another_version_is_refused(built):
    config = engine(version=built)
    text = refused(gate.require_version, config, Version("1.2.1"), WHERE)
    assert built in text
    assert "1.2.1" in text


def test_a_local_part_of_the_version_changes_nothing():
    gate.require_version(engine(version="1.2.1+cu13"), Version("1.2.1"), WHERE)
    gate.require_version(engine(version="1.2.1"), Version("1.2.1+local"), WHERE)


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_a_draft_longer_than_the_capacity_is_refused(method):
    speculation = recipe(method, draft_length={1: 7, 2: 3}).speculation
    gate.require_capacity(engine(method, max_draft_len=7), speculation, WHERE)
    text = refused(gate.require_capacity, engine(method), speculation, WHERE)
    assert "drafts 7 tokens" in text
    assert "max_draft_len 6" in text


def test_a_tree_larger_than_the_capacity_is_refused():
    config = engine("medusa", max_draft_len=2)
    speculation = recipe("medusa").speculation
    text = refused(gate.require_capacity, config, speculation, WHERE)
    assert "drafts 3 tokens" in text


@pytest.mark.parametrize("method", ["lookahead", "redrafter"])
@pytest.mark.parametrize("change", [-1, 1])
def test_sizes_fixed_at_build_must_be_equal(method, change):
    built = engine(method).max_draft_len + change
    config = engine(method, max_draft_len=built)
    speculation = recipe(method).speculation
    text = refused(gate.require_capacity, config, speculation, WHERE)
    assert f"exactly {built}" in text
    gate.require_capacity(engine(method), speculation, WHERE)


@pytest.mark.parametrize(
    ("changes", "wanted", "built"),
    [
        ({"max_batch_size": 1}, "max_batch_size 2", "1"),
        ({"max_seq_len": 65}, "max_seq_len 66", "65"),
        ({"max_input_len": 58}, "max_input_len (or max_num_tokens", "58"),
        ({"max_num_tokens": 50}, "max_num_tokens, if smaller) 59", "50"),
    ],
)
def test_limits_beyond_the_engine_are_refused(changes, wanted, built):
    limits = recipe("ngram").limits
    gate.require_sizes(engine("ngram"), limits, 59, WHERE)
    config = engine("ngram", **changes)
    text = refused(gate.require_sizes, config, limits, 59, WHERE)
    assert wanted in text
    assert f"built with {built}" in text


def test_beam_search_is_refused():
    gate.require_beam(engine(), WHERE)
    text = refused(gate.require_beam, engine(max_beam_width=4), WHERE)
    assert "max_beam_width 4" in text


def test_ranks_must_be_the_recipes():
    text = refused(gate.require_parallel, engine(tp_size=2), 4, 8, WHERE)
    assert "tensor_parallel 2" in text
    assert "recipe has 4" in text


def test_more_ranks_than_gpus_cannot_run_here():
    gate.require_parallel(engine(tp_size=2), 2, 2, WHERE)
    with pytest.raises(
        BackendUnavailableError, match="needs 2 GPUs, and 1 are visible"
    ):
        gate.require_parallel(engine(tp_size=2), 2, 1, WHERE)


@pytest.mark.parametrize(
    ("changes", "longest"),
    [
        ({}, 60),
        ({"max_num_tokens": 50}, 50),
        ({"max_input_len": 40}, 40),
        ({"max_seq_len": 30}, 29),
    ],
)
def test_the_smallest_limit_counts(changes, longest):
    assert gate.longest_input(engine("ngram", **changes)) == longest
