"""EAGLE-3, DFlash and PARD drafters are held against target, recipe and training."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.check.samples import DRAFT, MODEL, recipe
from trtspec.check.rules.drafter import drafter_vocabulary, hidden_size
from trtspec.check.rules.trained_drafter import (
    captured_layers,
    drafter_block,
    head_is_told,
    mask_token,
)
from trtspec.check.subject import Subject, key_itself
from trtspec.models.drafter import DrafterInfo

RULES = [
    hidden_size,
    drafter_vocabulary,
    head_is_told,
    captured_layers,
    drafter_block,
    mask_token,
]
EAGLE3 = DrafterInfo(
    kind="eagle3",
    family="llama",
    dtype="bfloat16",
    weight_bytes=1000,
    format="safetensors",
    files=("model.safetensors",),
    directory=Path("head"),
    layers=1,
    width=4,
    hidden_size=MODEL.hidden_size,
    captured_states=3,
    vocabulary_rows=8,
    target_vocabulary=MODEL.vocabulary_rows,
)
DFLASH = replace(EAGLE3, kind="dflash", block_size=16, mask_token=15, captured_states=5)


def fitted(drafter=None, draft=None, **method):
    kind = drafter.kind if drafter else "pard"
    speculation = {"method": kind, "model": "./drafter", "draft_length": 4}
    made = recipe(backend="pytorch", speculation=speculation | method)
    return Subject(made, key_itself, MODEL, draft, drafter=drafter)


def only(findings):
    (finding,) = findings
    return finding


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "subject",
    [
        fitted(EAGLE3),
        fitted(EAGLE3, layers_to_capture=[1, 15, 28]),
        fitted(DFLASH),
        fitted(DFLASH, target_layers=[1, 8, 15, 22, 29]),
        fitted(draft=replace(DRAFT, mask_token=3)),
        fitted(draft=DRAFT, mask_token_id=3),
        fitted(),
    ],
)
def test_what_fits_gives_no_finding(rule, subject):
    assert not list(rule(subject))


def test_a_reduced_vocabulary_is_no_mismatch_and_another_target_is():
    other = replace(EAGLE3, target_vocabulary=24)
    finding = only(drafter_vocabulary(fitted(other)))
    assert finding.severity == "warning"
    assert "made for 24 vocabulary rows, the target model has 16" in finding.what


def test_states_of_another_size_are_blocking():
    finding = only(hidden_size(fitted(replace(EAGLE3, hidden_size=4))))
    assert finding.severity == "blocking"
    assert "eagle3 drafter has hidden_size 4" in finding.what


def test_another_number_of_layers_than_a_block_drafter_reads_is_blocking():
    finding = only(captured_layers(fitted(DFLASH, target_layers=[1, 2, 3])))
    assert (finding.severity, finding.where) == (
        "blocking",
        "speculation.target_layers",
    )
    assert "target_layers names 3 layers" in finding.what
    assert "reads 5 hidden states" in finding.what


def test_the_default_of_three_layers_does_not_fit_every_head():
    finding = only(captured_layers(fitted(replace(EAGLE3, captured_states=4))))
    assert finding.where == "speculation.layers_to_capture"
    assert "layers_to_capture is unset" in finding.what
    assert "captures 3 where none are named" in finding.why
    assert "name the 4 layers" in finding.action
    pickled = replace(EAGLE3, captured_states=4, format="torch")
    assert only(captured_layers(fitted(pickled))).severity == "warning"


def test_a_pickled_head_that_nothing_shows_to_be_one_is_told():
    unknown = replace(EAGLE3, format="torch", is_told_by="")
    finding = only(head_is_told(fitted(unknown)))
    assert (finding.severity, finding.where) == ("warning", "speculation.model")
    assert "EAGLE-1 and EAGLE-2 drafters look the same" in finding.why
    assert not list(head_is_told(fitted(replace(unknown, format="safetensors"))))
    told = replace(unknown, is_told_by="config.json has draft_vocab_size")
    assert not list(head_is_told(fitted(told)))


def test_a_draft_longer_than_the_block_is_told():
    assert not list(drafter_block(fitted(DFLASH, draft_length=15)))
    finding = only(drafter_block(fitted(DFLASH, draft_length=16)))
    assert (finding.severity, finding.where) == (
        "warning",
        "speculation.draft_length",
    )
    assert "above the 15 tokens" in finding.what


@pytest.mark.parametrize(
    ("subject", "key"),
    [
        (fitted(draft=DRAFT), "pard_token"),
        (fitted(replace(DFLASH, mask_token=None)), "mask_token_id"),
    ],
)
def test_a_drafter_without_a_mask_token_is_told(subject, key):
    finding = only(mask_token(subject))
    assert (finding.severity, finding.where) == ("warning", "speculation.model")
    assert f"names no {key}" in finding.what
    assert "speculation.mask_token_id" in finding.action
