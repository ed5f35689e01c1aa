"""A request's own counters are used where the release fills them."""

from types import SimpleNamespace

import pytest
from packaging.version import Version

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.metrics import from_request_perf

STABLE, NEWEST = Version("1.2.1"), Version("1.4.0rc4")
COUNTERS = {
    "acceptance_rate": 0.5,
    "total_accepted_draft_tokens": 6,
    "total_draft_tokens": 12,
}


@pytest.mark.parametrize("metrics", [COUNTERS, SimpleNamespace(**COUNTERS)])
def test_counters_are_read_from_a_map_or_an_object(metrics):
    found = from_request_perf(metrics, NEWEST)
    assert (found.drafted, found.accepted, found.acceptance_rate) == (12, 6, 0.5)
    assert found.acceptance_length is None


def test_the_responses_counters_have_steps_too():
    found = from_request_perf({**COUNTERS, "num_spec_steps": 3}, NEWEST)
    assert found.acceptance_length == 3.0


@pytest.mark.parametrize("version", [Version("1.0.0"), STABLE])
def test_zeros_of_a_release_that_fills_none_are_no_figures(version):
    found = from_request_perf(dict.fromkeys(COUNTERS, 0), version)
    assert found.acceptance_rate is None
    assert f"{version} leaves it at 0" in found.unavailable


def test_zeros_of_the_newest_may_mean_that_nothing_was_drafted():
    found = from_request_perf(dict.fromkeys(COUNTERS, 0), NEWEST)
    assert "nothing was drafted" in found.unavailable


def test_a_missing_counter_of_accepted_tokens_is_not_none_accepted():
    found = from_request_perf({"total_draft_tokens": 12}, NEWEST)
    assert found.acceptance_rate is None
    assert "no total_accepted_draft_tokens" in found.unavailable


def test_a_request_without_them_says_what_they_need():
    assert "return_perf_metrics" in from_request_perf(None, NEWEST).unavailable


def test_more_accepted_than_drafted_is_refused():
    wrong = {**COUNTERS, "total_accepted_draft_tokens": 13}
    with pytest.raises(RunError, match="request r2: 13 accepted of 12"):
        from_request_perf(wrong, NEWEST, where="request r2")
