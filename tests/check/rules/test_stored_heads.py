"""Next-token heads that a conversion left out are told from headers."""

from dataclasses import replace

import pytest

from tests.check.samples import MODEL, subject
from trtspec.check.rules.next_token import heads_are_stored

MTP = {"method": "mtp", "draft_length": 1}


def found(stored, configured, *, backend="pytorch", method=MTP):
    target = replace(MODEL, stored_next_token_heads=stored, next_token_heads=configured)
    return list(heads_are_stored(subject(target, backend=backend, speculation=method)))


@pytest.mark.parametrize("count", [1, 3])
def test_heads_that_only_the_configuration_has_block(count):
    (finding,) = found(0, count)
    assert (finding.rule, finding.severity) == ("mtp-heads", "blocking")
    assert f"config.json names {count} next-token head" in finding.what
    assert finding.where == "target.model"


@pytest.mark.parametrize(("stored", "configured"), [(1, 1), (None, 1), (0, 0), (1, 0)])
def test_heads_that_are_there_or_not_known_do_not(stored, configured):
    assert found(stored, configured) == []


@pytest.mark.parametrize(
    ("backend", "method"),
    [
        ("reference", MTP),  # a rule of its own, which asks for the tensors alone
        ("pytorch", {"method": "ngram", "draft_length": 1}),
        ("pytorch", {**MTP, "model": "./heads"}),
    ],
)
def test_whoever_does_not_draft_with_them_is_not_told(backend, method):
    assert found(0, 1, backend=backend, method=method) == []
