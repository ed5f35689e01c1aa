"""How many requests per second keep the limits that the user gave."""

from __future__ import annotations

from trtspec.report import numbers
from trtspec.report.document import Section, Table
from trtspec.report.view import RunView

_NAMES = {"ttft": "TTFT", "tpot": "TPOT", "e2e": "E2E"}


def goodput_section(view: RunView) -> Section | None:
    """Give it per load and arm; None if no limits were given."""
    limits = view.plan.settings.goodput
    if not limits or not view.measured:
        return None
    said = ", ".join(f"{_NAMES[tag]} at most {limits[tag]:g} s" for tag in limits)
    rows = [
        (
            cell.load.words,
            name,
            numbers.arm_value("goodput", cell.arms[name]),
            numbers.arm_value("request_throughput", cell.arms[name]),
        )
        for cell in view.measured
        for name in view.arms_of(cell)
    ]
    table = Table(("load", "arm", "good requests/s", "all requests/s"), tuple(rows), 2)
    return Section("Goodput", (table,), f"Requests per second that keep {said}.")
