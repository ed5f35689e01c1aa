"""Only what may be ignored is, and an ignored finding does not block."""

import pytest

from trtspec.check import Finding, ignoring, is_blocked
from trtspec.check.ignore import require_ignorable
from trtspec.errors import UsageError

IGNORABLE = "token-ids"
MILDER_ONLY = "num-tokens"


def finding(rule, severity="blocking"):
    return Finding(rule, severity, "x.yaml:1", "what")


def test_an_ignored_finding_does_not_block_and_stays_in_the_list():
    found = finding(IGNORABLE)
    (marked,) = ignoring([found], [IGNORABLE])
    assert marked.ignored
    assert marked.what == found.what
    assert not is_blocked([marked])
    assert is_blocked([found])


def test_other_findings_are_left_alone():
    others = [finding("context-length"), finding("draft-size", "warning")]
    assert ignoring(others, [IGNORABLE]) == others


def test_of_some_rules_the_blocking_findings_block_all_the_same():
    findings = [finding(MILDER_ONLY), finding(MILDER_ONLY, "warning")]
    assert [f.ignored for f in ignoring(findings, [MILDER_ONLY])] == [False, True]


def test_nothing_is_ignored_without_being_asked():
    findings = [finding(IGNORABLE), finding("draft-size", "warning")]
    assert ignoring(findings, []) == findings


@pytest.mark.parametrize(
    "rule",
    [
        *("lossless", "checkpoint", "rope-scaling", "top-k", "forced-acceptance"),
        "combination-wrong",
    ],
)
def test_what_makes_the_output_another_one_cannot_be_ignored(rule):
    with pytest.raises(UsageError, match=f"--ignore.*{rule} cannot be ignored"):
        ignoring([], [rule])


def test_a_rule_whose_every_finding_blocks_cannot_be_ignored_by_default():
    with pytest.raises(UsageError, match="cannot be ignored"):
        require_ignorable(["drafter-hidden-size"])


@pytest.mark.parametrize("typed", ["tokenids", "token_ids", "Token-Ids"])
def test_an_unknown_rule_is_refused_with_near_names(typed):
    with pytest.raises(UsageError) as caught:
        ignoring([], [typed])
    (problem,) = caught.value.problems
    assert problem.where == "--ignore"
    assert typed in problem.what
    assert "token-ids" in problem.what
    assert problem.action == "trtspec check --explain token-ids"


def test_rules_come_in_order_and_once():
    assert require_ignorable(["memory", "draft-size", "memory"]) == (
        "draft-size",
        "memory",
    )
