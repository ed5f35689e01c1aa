"""Speculation methods: which exist, what they take, what they say of themselves."""

import pytest
from pydantic import TypeAdapter, ValidationError

from trtspec.methods import DraftTarget, NGram, NoSpeculation, Speculation

ADAPTER = TypeAdapter(Speculation)


@pytest.mark.parametrize(
    ("fields", "method"),
    [
        ({"method": "none"}, NoSpeculation),
        ({"method": "ngram", "draft_length": 4}, NGram),
        ({"method": "draft_target", "draft_length": 4, "model": "d"}, DraftTarget),
    ],
)
def test_method_decides_the_class(fields, method):
    assert type(ADAPTER.validate_python(fields)) is method


@pytest.mark.parametrize("method", [NoSpeculation, NGram, DraftTarget])
def test_every_method_has_a_one_line_summary(method):
    assert method.summary
    assert "\n" not in method.summary


def test_no_speculation_never_drafts():
    method = NoSpeculation(method="none")
    assert method.draft_length_at(1) == 0
    assert method.longest_draft == 0
    assert method.draft_model is None


def test_drafting_method_follows_its_schedule():
    method = NGram(method="ngram", draft_length={32: 2, 8: 4})
    assert [method.draft_length_at(n) for n in (8, 9, 33)] == [4, 2, 0]
    assert method.longest_draft == 4
    assert method.draft_model is None


def test_draft_target_names_its_checkpoint():
    method = DraftTarget(method="draft_target", draft_length=4, model="org/small")
    assert method.draft_model == "org/small"


@pytest.mark.parametrize(
    "fields",
    [
        {"method": "ngram"},
        {"method": "ngram", "draft_length": 4, "model": "d"},
        {"method": "ngram", "draft_length": 4, "max_matching_ngram": 0},
        {"method": "ngram", "draft_length": 4, "max_matching_ngram": 17},
        {"method": "ngram", "draft_length": 4, "max_matching_ngram": "3"},
        {"method": "ngram", "draft_length": 4, "acceptance": "typical"},
        {"method": "draft_target", "draft_length": 4},
        {"method": "draft_target", "draft_length": 4, "model": ""},
        {"method": "none", "draft_length": 4},
        {"method": "eagle3", "draft_length": 4},
        {"draft_length": 4},
    ],
)
def test_wrong_parameters_are_refused(fields):
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(fields)


def test_method_cannot_be_changed_after_validation():
    method = NGram(method="ngram", draft_length=4)
    with pytest.raises(ValidationError):
        method.draft_length = 5
