"""A draft model is pointed at where it costs as much as the target."""

from dataclasses import replace

import pytest

from tests.check.samples import DRAFT, DRAFT_TARGET, MODEL, subject
from trtspec.check.rules.pair import draft_is_smaller


def pair(target, draft):
    return subject(target, draft, speculation=DRAFT_TARGET)


@pytest.mark.parametrize(("parameters", "warned"), [(100_000, 0), (1_000_000, 1)])
def test_a_draft_model_as_large_as_the_target_is_pointed_at(parameters, warned):
    found = pair(MODEL, replace(DRAFT, parameters=parameters))
    findings = list(draft_is_smaller(found))
    assert len(findings) == warned
    for finding in findings:
        assert finding.severity == "warning"
        assert "1.0 million parameters" in finding.what
        assert finding.values["draft_parameters"] == parameters


@pytest.mark.parametrize(("target", "draft"), [(MODEL, None), (None, DRAFT)])
def test_half_a_pair_gives_no_finding(target, draft):
    assert not list(draft_is_smaller(pair(target, draft)))


@pytest.mark.parametrize("parameters", [100_001, 390_000, 999_999])
def test_a_draft_model_above_a_tenth_is_noted(parameters):
    (finding,) = draft_is_smaller(pair(MODEL, replace(DRAFT, parameters=parameters)))
    assert finding.severity == "note"
    assert f"{parameters / 1e6:.0%} of the target's" in finding.why
    assert "a tenth" in finding.action
