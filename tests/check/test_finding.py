"""Findings block if one of them does."""

import pytest

from trtspec.check.finding import SEVERITIES, Finding, is_blocked


def finding(severity):
    return Finding("rule", severity, "x.yaml:1", "what")


@pytest.mark.parametrize(
    ("severities", "blocked"),
    [
        ([], False),
        (["note", "warning"], False),
        (["note", "blocking"], True),
        (["blocking"], True),
    ],
)
def test_only_a_blocking_finding_blocks(severities, blocked):
    assert is_blocked([finding(severity) for severity in severities]) is blocked


def test_severities_go_from_worst_to_mildest():
    assert SEVERITIES == ("blocking", "warning", "note")
