"""What must not be shown."""

from __future__ import annotations

import pytest

from trtspec.report.secrets import without_secrets


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("--url off=http://me:pw@a:1 b", "--url off=http://***@a:1 b"),
        ("--api-key sk-1 --limit 3", "--api-key *** --limit 3"),
        ("--auth-token=abc x", "--auth-token=*** x"),
        ("--output-tokens 96", "--output-tokens 96"),
        ("http://host:8000/v1?a=b@c", "http://host:8000/v1?a=b@c"),
    ],
)
def test_secrets_are_hidden_and_nothing_else(text, shown):
    assert without_secrets(text) == shown
