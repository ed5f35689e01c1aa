"""Which arms a set of artifacts gives."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.bench.fakes import FakeRunner, prompts
from trtspec.bench.candidates import (
    Engine,
    arms_of,
    baseline_of,
    can_be_off,
    require_same_prompts,
    require_same_target,
)
from trtspec.bench.in_process import InProcess
from trtspec.errors import UsageError
from trtspec.recipe.schema import Recipe

NGRAM = {"method": "ngram", "draft_length": 4}
NONE = {"method": "none"}
MEDUSA = {"method": "medusa", "model": "./heads"}
EAGLE3 = {"method": "eagle3", "model": "./head", "draft_length": 3}


def recipe(speculation=NGRAM, **changes) -> Recipe:
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target"},
            "speculation": speculation,
        }
        | changes
    )


def engine(of: Recipe, fingerprint: str = "ab" * 32, asked=None) -> Engine:
    source = SimpleNamespace(files={"model.safetensors": "00"})
    manifest = SimpleNamespace(source={"target": source})
    artifact = SimpleNamespace(
        name=of.name, fingerprint=fingerprint, recipe=of, manifest=manifest
    )
    return Engine(artifact, InProcess(FakeRunner()), asked or prompts(2))


def names(engines, lengths=(), control=False):
    return [(a.name, a.role) for a in arms_of(engines, lengths, control=control)]


def test_one_artifact_is_off_and_on():
    off, on = arms_of([engine(recipe())], (), control=False)
    assert [(a.name, a.role, a.speculate) for a in (off, on)] == [
        ("off", "baseline", False),
        ("on", "candidate", True),
    ]
    assert off.driver is on.driver
    assert off.info.speculation == {"method": "none"}
    assert on.info.speculation["draft_length"] == 4
    assert on.info.artifact is not None
    assert Recipe.model_validate(on.info.artifact.recipe) == recipe()


def test_the_control_stands_behind_off():
    assert names([engine(recipe())], control=True) == [
        ("off", "baseline"),
        ("off again", "control"),
        ("on", "candidate"),
    ]


def test_each_draft_length_is_an_arm():
    _, two, four = arms_of([engine(recipe())], (2, 4), control=False)
    assert (two.name, four.name) == ("draft length 2", "draft length 4")
    assert two.speculation is not None
    assert two.speculation.longest_draft == 2
    assert two.info.speculation["draft_length"] == 2


def test_a_draft_longer_than_what_was_built_is_refused():
    with pytest.raises(UsageError, match=r"--draft-length 9: .*up to 4 tokens"):
        arms_of([engine(recipe())], (9,), control=False)


def test_a_draft_length_of_a_method_without_one_is_refused():
    with pytest.raises(UsageError, match="draft length of its own"):
        arms_of([engine(recipe({"method": "lookahead"}))], (2,), control=False)


def test_of_several_artifacts_the_one_without_speculation_is_off():
    engines = [
        engine(recipe(name="llama-ngram"), "aa" * 32),
        engine(recipe(NONE, name="llama-none"), "bb" * 32),
        engine(recipe(MEDUSA, name="llama-medusa"), "cc" * 32),
    ]
    assert names(engines) == [
        ("off", "baseline"),
        ("ngram", "candidate"),
        ("medusa", "candidate"),
    ]
    off, *_ = arms_of(engines, (), control=False)
    assert off.driver is engines[1].driver


def test_arms_of_one_name_are_told_apart_by_their_fingerprints():
    engines = [engine(recipe(), f"{i}" * 64) for i in (1, 2)]
    assert [name for name, _ in names(engines)] == [
        "off",
        "toy-11111111",
        "toy-22222222",
    ]


def test_several_artifacts_and_draft_lengths_name_both():
    engines = [
        engine(recipe(name="a-x"), "1" * 64),
        engine(recipe(name="a-y"), "2" * 64),
    ]
    assert [n for n, _ in names(engines, (1, 2))][1:] == [
        "x, draft length 1",
        "x, draft length 2",
        "y, draft length 1",
        "y, draft length 2",
    ]


def test_there_is_nothing_to_compare_without_speculation():
    with pytest.raises(UsageError, match="nothing to compare"):
        baseline_of([recipe(NONE)])
    with pytest.raises(UsageError, match="2 of the artifacts have method none"):
        baseline_of([recipe(NONE), recipe(NONE), recipe()])
    assert baseline_of([recipe(), recipe(MEDUSA)]) == 0
    assert baseline_of([recipe(), recipe(NONE)]) == 1


@pytest.mark.parametrize(
    ("of", "off", "words"),
    [
        (recipe(MEDUSA, backend="tensorrt"), False, "medusa cannot decode without"),
        (recipe(EAGLE3, backend="pytorch"), False, "drafts for every request"),
        (recipe(backend="tensorrt"), True, ""),
        (recipe(MEDUSA), True, ""),
    ],
)
def test_an_engine_that_always_drafts_has_no_off_arm_of_its_own(of, off, words):
    assert can_be_off(of) is off
    if off:
        assert baseline_of([of]) == 0
        return
    with pytest.raises(UsageError, match=f"(?s){words}.*method: none and name both"):
        baseline_of([of])
    beside = recipe(NONE, backend=of.backend)
    assert baseline_of([of, beside]) == 1


def test_arms_of_different_targets_are_refused():
    require_same_target([recipe(), recipe(MEDUSA)])
    for changes, words in (
        ({"backend": "tensorrt"}, "has backend tensorrt"),
        ({"target": {"model": "./target", "dtype": "float32"}}, "target.dtype float32"),
    ):
        with pytest.raises(UsageError, match=words):
            require_same_target([recipe(), recipe(name="other", **changes)])


def test_arms_that_see_other_token_ids_are_refused():
    ours, theirs = prompts(2), prompts(3)[1:]
    renamed = tuple(
        type(p)(o.id, o.category, o.messages, p.tokens)
        for o, p in zip(ours, theirs, strict=True)
    )
    require_same_prompts([engine(recipe()), engine(recipe())])
    with pytest.raises(UsageError, match=r"prompt p1: .*different token ids"):
        require_same_prompts([engine(recipe()), engine(recipe(), asked=renamed)])
