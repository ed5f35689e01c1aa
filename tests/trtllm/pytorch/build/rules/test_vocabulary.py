"""Sampled drafts of another width are pointed at where a release subtracts them."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, NGRAM, subject
from tests.trtllm.pytorch.build.rules.findings import found, only
from trtspec.trtllm.pytorch.build.rules.vocabulary import rows_for_sampled_drafts

NARROW = replace(DRAFT, vocabulary_rows=12, tokenizer_entries=10)


def pair(draft=NARROW, temperature=0.7, speculation=DRAFT_TARGET):
    sampling = {"temperature": temperature}
    made = {"backend": "pytorch", "sampling": sampling, "speculation": speculation}
    return subject(MODEL, draft, **made)


@pytest.mark.parametrize("version", ["1.1.0", "1.2.1"])
def test_sampled_drafts_of_other_rows_are_a_warning_with_the_padding(version):
    finding = only(rows_for_sampled_drafts, pair(), version)
    assert (finding.rule, finding.severity) == ("draft-logits", "warning")
    assert "12 vocabulary rows, the target model 16" in finding.what
    assert "temperature 0.7" in finding.what
    assert "Path('draft-16-rows'), 16" in finding.snippet


@pytest.mark.parametrize("version", ["1.0.0", "1.4.0rc4", None])
def test_releases_that_do_not_subtract_are_left_alone(version):
    assert not found(rows_for_sampled_drafts, pair(), version)


@pytest.mark.parametrize(
    "other",
    [
        pair(draft=DRAFT),
        pair(draft=None),
        pair(temperature=0.0),
        pair(speculation=NGRAM, draft=None),
    ],
    ids=["equal rows", "no draft", "greedy", "n-gram"],
)
def test_pairs_that_pass_ids_or_fit_are_left_alone(other):
    assert not found(rows_for_sampled_drafts, other)
