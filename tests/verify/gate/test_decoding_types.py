"""Which method a ``decoding_type`` stands for, and where its drafter runs."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.verify.gate.asking import recipe
from trtspec.trtllm.facts.controls import engine_shape
from trtspec.trtllm.facts.families import FAMILIES, family_of, newest_of
from trtspec.trtllm.facts.llm_args import speculation_classes
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.subject import Subject
from trtspec.verify.gate import Asked
from trtspec.verify.gate.decoding_types import engine_method, method_of, shape_of
from trtspec.verify.gate.llm_args import Read

COMPILED = [
    "eagle3",
    "mtp",
    "ngram",
    "draft_target",
    "suffix",
    "pard",
    "dflash",
    "auto",
]
SHAPES = {"one model": "one-model", "two models": "two-model", "outside": "two-model"}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", COMPILED)
def test_what_a_recipe_compiles_to_is_read_as_its_method(family, method):
    """The way back: from the YAML to the rules that the recipe's method has."""
    version, made = newest_of(family), recipe("pytorch", method)
    compiled = compile_args(made, version)
    if compiled.blocked:
        pytest.skip(f"{version} has no {method}")
    read = Read(compiled.args.to_dict(), version, "pytorch", Asked(), "compiled")

    found = method_of(read.class_name, read.spec, version)
    ours = [e for e in made.speculation.exactness() if e.covers("pytorch", version)]
    theirs = [e for e in found.exactness() if e.covers("pytorch", version)]
    assert theirs == ours
    subject = Subject(made, version, family_of(version))
    assert read.shape == SHAPES[subject.shape]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("class_name", "method"),
    [
        ("EagleDecodingConfig", "eagle3"),
        ("MTPDecodingConfig", "mtp"),
        ("NGramDecodingConfig", "ngram"),
        ("DraftTargetDecodingConfig", "draft_target"),
        ("AutoDecodingConfig", "auto"),
    ],
)
def test_shapes_are_those_of_the_facts(family, class_name, method):
    version = newest_of(family)

    assert shape_of(class_name, {}, version) == engine_shape(method, version)


@pytest.mark.parametrize(
    ("class_name", "flag"),
    [
        ("EagleDecodingConfig", "eagle3_one_model"),
        ("MTPDecodingConfig", "mtp_eagle_one_model"),
    ],
)
def test_two_models_have_to_be_asked_for_and_are_gone_from_main(class_name, flag):
    for family, shape in {"1.2": "two-model", "main": "one-model"}.items():
        version = newest_of(family)
        assert shape_of(class_name, {flag: False}, version) == shape
        assert shape_of(class_name, {flag: True}, version) == "one-model"


def test_an_unknown_class_has_no_shape_and_no_method():
    assert shape_of(None, {}, Version("1.2.1")) is None
    assert method_of(None, {}, Version("1.2.1")) is None
    assert engine_method("SaveHiddenStatesDecodingConfig", {}) is None


def test_every_class_but_that_for_training_has_a_method():
    without = {
        name for name in speculation_classes() if method_of(name, {}, None) is None
    }

    assert without == {"SaveHiddenStatesDecodingConfig"}


def test_a_dynamic_tree_counts_where_it_changes_what_is_drafted():
    spec = {"use_dynamic_tree": True, "dynamic_tree_max_topK": 4}

    old = method_of("EagleDecodingConfig", spec, newest_of("1.2"))
    new = method_of("EagleDecodingConfig", spec, newest_of("main"))
    assert (old.tree, new.tree) == (None, "dynamic")


@pytest.mark.parametrize(
    ("threshold", "acceptance"), [(None, "exact"), (0.09, "typical"), (0.0, "typical")]
)
def test_on_engines_a_threshold_makes_eagle_typical(threshold, acceptance):
    spec = {"posterior_threshold": threshold}

    assert engine_method("EagleDecodingConfig", spec).acceptance == acceptance
