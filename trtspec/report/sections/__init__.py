"""The sections of a report, in the order in which they stand; one module each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trtspec.report.document import Section
from trtspec.report.sections.acceptance import acceptance_section
from trtspec.report.sections.conditions import conditions_section
from trtspec.report.sections.control import control_section
from trtspec.report.sections.failures import failures_section
from trtspec.report.sections.goodput import goodput_section
from trtspec.report.sections.ladder import ladder_section
from trtspec.report.sections.latency import latency_section
from trtspec.report.sections.outputs import outputs_section
from trtspec.report.sections.reproduce import reproduce_section
from trtspec.report.sections.resources import resources_section
from trtspec.report.sections.step_time import step_time_section
from trtspec.report.sections.verdict import verdict_section
from trtspec.report.view import RunView

_SECTIONS: tuple[Callable[[RunView], Section | None], ...] = (
    verdict_section,
    failures_section,
    ladder_section,
    latency_section,
    goodput_section,
    acceptance_section,
    step_time_section,
    control_section,
    outputs_section,
    resources_section,
    conditions_section,
    reproduce_section,
)


def sections_of(view: RunView) -> Iterator[Section]:
    """Give the sections that a run has anything to say in."""
    for make in _SECTIONS:
        if (section := make(view)) is not None:
            yield section
