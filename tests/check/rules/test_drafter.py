"""Drafters that fit pass; others are told with both values, certain or not."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.check.samples import MODEL, recipe
from trtspec.check.rules.drafter import (
    drafter_vocabulary,
    eagle_bias,
    hidden_size,
    medusa_heads,
)
from trtspec.check.subject import Subject, key_itself
from trtspec.models.drafter import DrafterInfo

RULES = [hidden_size, drafter_vocabulary, medusa_heads, eagle_bias]
COUNTED = DrafterInfo(
    kind="medusa",
    family=None,
    dtype="float16",
    weight_bytes=1000,
    format="safetensors",
    files=("medusa_lm_head.safetensors",),
    directory=Path("drafter"),
    heads=4,
    head_layers=1,
    hidden_size=MODEL.hidden_size,
    vocabulary_rows=MODEL.vocabulary_rows,
)
UNCOUNTED = replace(COUNTED, format="torch", hidden_size=None, vocabulary_rows=None)
EAGLE = replace(COUNTED, kind="eagle", heads=None, head_layers=None, has_fc_bias=True)


def fitted(drafter, target=MODEL, **method):
    speculation = {
        "method": drafter.kind if drafter else "medusa",
        "model": "./drafter",
    }
    made = recipe(backend="tensorrt", speculation={**speculation, **method})
    return Subject(made, key_itself, target, drafter=drafter)


def only(findings):
    (finding,) = findings
    return finding


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("drafter", [COUNTED, UNCOUNTED, EAGLE])
def test_a_drafter_that_fits_gives_no_finding(rule, drafter):
    assert not list(rule(fitted(drafter)))


@pytest.mark.parametrize("rule", RULES)
def test_without_a_drafter_there_is_nothing_to_say(rule):
    assert not list(rule(fitted(None)))


@pytest.mark.parametrize("rule", [hidden_size, drafter_vocabulary])
def test_without_a_target_there_is_nothing_to_compare(rule):
    other = replace(COUNTED, hidden_size=99, vocabulary_rows=99)
    assert not list(rule(fitted(other, target=None)))


@pytest.mark.parametrize("form", ["safetensors", "torch"])
def test_another_hidden_size_is_blocking_with_both_values(form):
    finding = only(hidden_size(fitted(replace(EAGLE, hidden_size=12, format=form))))
    assert (finding.severity, finding.where) == ("blocking", "speculation.model")
    assert "eagle drafter has hidden_size 12, the target model 8" in finding.what


def test_other_vocabulary_rows_in_the_weights_are_blocking():
    finding = only(drafter_vocabulary(fitted(replace(EAGLE, vocabulary_rows=24))))
    assert finding.severity == "blocking"
    assert "24 vocabulary rows, the target model 16" in finding.what


def test_other_vocabulary_rows_in_the_configuration_alone_are_a_warning():
    drafter = replace(EAGLE, vocabulary_rows=24, format="torch")
    finding = only(drafter_vocabulary(fitted(drafter)))
    assert finding.severity == "warning"
    assert "24 vocabulary rows by its config.json" in finding.what


def test_more_heads_than_the_weights_hold_are_blocking():
    finding = only(medusa_heads(fitted(COUNTED, num_heads=5)))
    assert (finding.severity, finding.where) == ("blocking", "speculation.num_heads")
    assert finding.what == "num_heads 5 is above the 4 heads of the checkpoint"
    assert finding.action == "write num_heads: 4"


def test_a_tree_deeper_than_the_heads_is_cut_in_the_same_edit():
    deep = {"tree": [[0], [0, 0], [0, 0, 0]], "num_heads": 3}
    finding = only(medusa_heads(fitted(replace(COUNTED, heads=2), **deep)))
    assert finding.action == (
        "write num_heads: 2, and keep only the paths of tree that have 2 numbers or "
        "fewer"
    )


def test_more_heads_than_the_configuration_names_are_a_warning():
    finding = only(medusa_heads(fitted(replace(UNCOUNTED, heads=2))))
    assert finding.severity == "warning"
    assert "num_heads 4 is above the 2 heads" in finding.what
    assert "by its config.json" in finding.what
    assert "unless the weights hold more" in finding.action


@pytest.mark.parametrize(
    ("drafter", "severity"), [(COUNTED, "blocking"), (UNCOUNTED, "warning")]
)
def test_another_number_of_layers_per_head_is_told(drafter, severity):
    finding = only(medusa_heads(fitted(drafter, num_layers=2)))
    assert (finding.severity, finding.where) == (severity, "speculation.num_layers")
    assert "num_layers 2 is not the 1 layer(s)" in finding.what


def test_heads_that_are_not_known_are_not_compared():
    unknown = replace(UNCOUNTED, heads=None, head_layers=None)
    assert not list(medusa_heads(fitted(unknown, num_heads=9, num_layers=3)))


@pytest.mark.parametrize(
    ("form", "severity"), [("safetensors", "blocking"), ("torch", "warning")]
)
def test_an_eagle_drafter_without_bias_is_told(form, severity):
    drafter = replace(EAGLE, has_fc_bias=False, format=form)
    finding = only(eagle_bias(fitted(drafter)))
    assert (finding.rule, finding.severity) == ("eagle-bias", severity)
    assert "KeyError" in finding.why


def test_a_bias_that_is_not_known_is_not_missed():
    assert not list(eagle_bias(fitted(replace(EAGLE, has_fc_bias=None))))
