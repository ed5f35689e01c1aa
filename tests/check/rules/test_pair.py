"""Pairs that share their tokens pass; others are told with what differs."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, subject
from tests.models.tiny import TOKENS, write_checkpoint
from trtspec.check.rules.pair import draft_is_smaller, token_ids, vocabulary_rows
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe

OTHERS = (*TOKENS[:3], *TOKENS[5:3:-1], TOKENS[3], *TOKENS[6:])


def pair(target, draft):
    return subject(target, draft, speculation=DRAFT_TARGET)


@pytest.fixture
def target(tmp_path):
    return describe(write_checkpoint(tmp_path / "target"))


def draft_with(tmp_path, tokens):
    return describe(write_checkpoint(tmp_path / "draft", tokens=tokens))


def only(findings):
    (finding,) = findings
    assert finding.where == "speculation.model"
    return finding


def test_the_same_tokens_give_no_finding(tmp_path, target):
    assert not list(token_ids(pair(target, draft_with(tmp_path, TOKENS))))


def test_other_ids_are_blocking_with_their_number_and_both_strings(tmp_path, target):
    finding = only(token_ids(pair(target, draft_with(tmp_path, OTHERS))))
    assert finding.severity == "blocking"
    assert finding.what.startswith("token ids that differ: 2 ")
    assert "tokenizer has 16 entries, the draft's 16" in finding.what
    assert "3 is 't3' in the target, 't5' in the draft" in finding.what
    assert finding.action


def test_a_token_that_one_side_lacks_is_shown_as_nothing(tmp_path, target):
    finding = only(token_ids(pair(target, draft_with(tmp_path, TOKENS[:-1]))))
    assert finding.what.startswith("token ids that differ: 1 ")
    assert "15 is 't15' in the target, nothing in the draft" in finding.what


def test_long_tokens_are_shortened(tmp_path, target):
    tokens = (*TOKENS[:-1], "x" * 500)
    what = only(token_ids(pair(target, draft_with(tmp_path, tokens)))).what
    assert "'xxx" in what
    assert len(what) < 300


def test_tokens_that_no_file_lists_cannot_be_compared(tmp_path, target):
    draft = draft_with(tmp_path, TOKENS)
    (draft.directory / "tokenizer.json").rename(draft.directory / "tokenizer.model")
    finding = only(token_ids(pair(target, draft)))
    assert finding.severity == "warning"
    assert "the draft model's files do not list its tokens" in finding.what
    assert "target model's files" in only(token_ids(pair(draft, target))).what


def test_a_tokenizer_damaged_since_it_was_described_raises_nothing(tmp_path, target):
    draft = draft_with(tmp_path, TOKENS)
    (draft.directory / "tokenizer.json").write_text("{")
    assert only(token_ids(pair(target, draft))).severity == "warning"


def test_before_the_download_comparing_is_put_off(target):
    finding = only(token_ids(pair(DEMO.info, target)))
    assert finding.severity == "note"
    assert "once the target model is on this machine" in finding.what


def test_the_same_number_of_rows_gives_no_finding():
    assert not list(vocabulary_rows(pair(MODEL, DRAFT)))


def test_another_number_of_rows_is_a_note_with_both_numbers():
    finding = only(vocabulary_rows(pair(MODEL, replace(DRAFT, vocabulary_rows=24))))
    assert finding.severity == "note"
    assert "24 vocabulary rows, the target model 16" in finding.what


@pytest.mark.parametrize(("parameters", "warned"), [(999_999, 0), (1_000_000, 1)])
def test_a_draft_model_as_large_as_the_target_is_pointed_at(parameters, warned):
    found = pair(MODEL, replace(DRAFT, parameters=parameters))
    findings = list(draft_is_smaller(found))
    assert len(findings) == warned
    for finding in findings:
        assert finding.severity == "warning"
        assert "1.0 million parameters" in finding.what


@pytest.mark.parametrize("rule", [token_ids, vocabulary_rows, draft_is_smaller])
@pytest.mark.parametrize(("target", "draft"), [(MODEL, None), (None, DRAFT)])
def test_half_a_pair_gives_no_finding(rule, target, draft):
    assert not list(rule(pair(target, draft)))
