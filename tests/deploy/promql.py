"""Which metrics an expression names, and which a server exposes."""

from __future__ import annotations

import re

import pytest

from trtspec.serve.metrics import names

EXPOSED = {
    *names.GAUGES,
    *(f"{name}_total" for name in names.COUNTERS),
    *(
        f"{name}_{part}"
        for name in names.HISTOGRAMS
        for part in ("bucket", "count", "sum")
    ),
}
_STANDINS = {
    "$__rate_interval": "1m",
    "$window": "5m",
    "$break_even_length": "1.4",
    "$break_even_requests": "8",
}


def parsed(expression):
    """Parse an expression, a dashboard's variables replaced.

    :raises ValueError: if it is none.
    """
    parser = pytest.importorskip(
        "promql_parser", reason="promql-parser is not installed"
    )
    for variable, value in _STANDINS.items():
        expression = expression.replace(variable, value)
    return parser.parse(expression)


def names_in(expression):
    """Give the metrics that an expression asks for, by looking at its words."""
    bare = re.sub(
        r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(by|without|on|ignoring|group_left)\s*\([^)]*\)',
        " ",
        expression,
    )
    words = re.findall(r"[a-zA-Z_:$][\w:]*(?!\w*\s*\()", bare)
    return {word for word in words if ":" in word or word == "up"}
