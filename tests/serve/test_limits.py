"""Limits that a server cannot work with are refused."""

import pytest
from pydantic import ValidationError

from trtspec.serve.limits import ServeLimits


def test_usual_limits_are_valid_and_all_described():
    ServeLimits()
    assert all(f.description for f in ServeLimits.model_fields.values())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("waiting", -1), ("connections", 0), ("body_bytes", 0), ("choices", 0)),
        *(("head_seconds", 0), ("write_seconds", -1), ("request_seconds", 0)),
        *(("request_seconds", float("inf")), ("hang_seconds", float("nan"))),
        ("unknown", 1),
    ],
)
def test_what_makes_no_sense_is_refused(field, value):
    with pytest.raises(ValidationError):
        ServeLimits(**{field: value})


def test_nobody_need_wait():
    assert ServeLimits(waiting=0).waiting == 0
