"""MTP heads of the target, and EAGLE-3 heads beside it."""

from dataclasses import replace

import pytest

from tests.models.drafters import write_eagle3
from tests.trtllm.pytorch.build.projects import MAIN
from tests.trtllm.pytorch.build.rules.findings import found, only, subject_of
from trtspec.trtllm.pytorch.build.rules.heads import (
    captured_layers_fit,
    head_is_read,
    heads_suffice,
    target_has_heads,
)


def mtp(folder, heads, length, **fields):
    config = {} if heads is None else {"num_nextn_predict_layers": heads}
    return subject_of(folder, "mtp", config=config, draft_length=length, **fields)


@pytest.mark.parametrize("heads", [None, 0])
def test_target_without_heads_is_refused(tmp_path, heads):
    subject = mtp(tmp_path, heads, 1)
    finding = only(target_has_heads, subject)
    assert (finding.severity, finding.where) == ("blocking", "target.model")
    assert "num_nextn_predict_layers" in finding.what
    assert not found(heads_suffice, subject)


def test_target_with_heads_passes_and_other_methods_need_none(tmp_path):
    assert not found(target_has_heads, mtp(tmp_path / "a", 1, 1))
    assert not found(target_has_heads, subject_of(tmp_path / "b", "ngram"))


@pytest.mark.parametrize(("heads", "length"), [(1, 1), (3, 3), (3, 2), (3, {2: 3})])
def test_as_many_heads_as_tokens_are_enough(tmp_path, heads, length):
    assert not found(heads_suffice, mtp(tmp_path, heads, length))


def test_one_head_that_is_applied_again_is_a_note(tmp_path):
    finding = only(heads_suffice, mtp(tmp_path, 1, 3))
    assert (finding.severity, finding.where) == ("note", "speculation.draft_length")
    assert "applied 3 times" in finding.what


@pytest.mark.parametrize(
    ("heads", "vanilla", "action"),
    [
        (2, False, "set draft_length to 2 or less"),
        (2, True, "set draft_length to 2 or less"),
        (1, True, "set draft_length to 1 or less, or delete vanilla"),
    ],
)
def test_more_tokens_than_heads_are_refused(tmp_path, heads, vanilla, action):
    finding = only(heads_suffice, mtp(tmp_path, heads, 3, vanilla=vanilla))
    assert finding.severity == "blocking"
    assert f"draft_length 3 is above the {heads} next-token head" in finding.what
    assert finding.action == action


def test_layers_that_may_not_be_found_are_a_warning(tmp_path):
    write_eagle3(tmp_path / "eagle3", prefix="layers.")
    subject = subject_of(tmp_path, "eagle3")
    finding = only(head_is_read, subject, "1.2.1")
    assert (finding.severity, finding.where) == ("warning", "speculation.model")
    assert "layers." in finding.what
    assert not found(head_is_read, subject, MAIN)
    assert not found(head_is_read, subject, None)


def test_layers_under_the_usual_name_pass(tmp_path):
    assert not found(head_is_read, subject_of(tmp_path, "eagle3"))


def test_other_number_of_captured_layers_is_refused(tmp_path):
    subject = subject_of(tmp_path, "eagle3", layers_to_capture=[0, 1])
    finding = only(captured_layers_fit, subject)
    assert finding.severity == "blocking"
    assert finding.where == "speculation.layers_to_capture"
    assert "names 2 layers, and the head fuses the hidden states of 3" in finding.what


@pytest.mark.parametrize("layers", [None, [0, 1, -1]])
def test_as_many_captured_layers_as_the_head_reads_pass(tmp_path, layers):
    fields = {} if layers is None else {"layers_to_capture": layers}
    assert not found(captured_layers_fit, subject_of(tmp_path, "eagle3", **fields))


LATER = {"mtp_num_hidden_layers": 2}


def test_the_newest_releases_read_a_second_key(tmp_path):
    subject = subject_of(tmp_path, "mtp", config=LATER, draft_length=3)
    assert not found(target_has_heads, subject, MAIN)
    assert "2 next-token heads" in only(heads_suffice, subject, MAIN).what
    refused = only(target_has_heads, subject, "1.2.1")
    assert "mtp_num_hidden_layers" not in refused.what


def test_heads_that_no_key_names_are_one_where_both_are_read(tmp_path):
    subject = subject_of(tmp_path, "mtp", config={}, draft_length=1)
    assert "nor mtp_num_hidden_layers" in only(target_has_heads, subject, MAIN).what
    stored = replace(subject.target, stored_next_token_heads=1)
    seen = replace(subject, target=stored)
    assert not found(target_has_heads, seen, MAIN)
    assert found(target_has_heads, seen, "1.2.1")
