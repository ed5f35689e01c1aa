"""How the ways to speculate read on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from trtspec.advise.explaining import NOTHING_KNOWN
from trtspec.cli.paragraph import paragraph

if TYPE_CHECKING:
    from trtspec.advise import Advice, Candidate

_INDENT = "  "
_LABELS = {
    "usable": ("usable", "green"),
    "download": ("usable after a download", "green"),
    "get": ("usable if you get", "yellow"),
    "no": ("not usable", "bright_black"),
}


def advice_lines(advice: Advice) -> Iterator[str]:
    """Lay every way out, the one to try first in front.

    Ways that fail for the same reason share a paragraph. That a backend lacks a method
    is not told where another backend of the installation has it.
    """
    yield from paragraph(_subject(advice))
    for group in _groups(_told(advice.candidates)):
        yield ""
        yield from _group(group, advice.chosen)
    yield ""
    yield from paragraph(NOTHING_KNOWN)


def _subject(advice: Advice) -> str:
    family = advice.target.family or "family not known"
    release = f"TensorRT-LLM {advice.version}"
    if advice.version is None:
        release = "no TensorRT-LLM here: --trtllm VERSION lists what a release has"
    told = f"{advice.target.name} ({family}); {release}"
    if advice.workload is None:
        return told
    counted = "tokens" if advice.workload.counted else "tokens, estimated"
    return (
        f"{told}; {advice.workload.prompts} prompts of up to "
        f"{advice.workload.longest_prompt} {counted}"
    )


def _told(candidates: Iterable[Candidate]) -> list[Candidate]:
    known = list(candidates)
    elsewhere = {c.method for c in known if c.state != "no"}
    return [
        c
        for c in known
        if c.state != "no" or c.draft is not None or c.method not in elsewhere
    ]


def _groups(candidates: Iterable[Candidate]) -> list[list[Candidate]]:
    """Put ways together that need the same, or fail the same way."""
    groups: dict[object, list[Candidate]] = {}
    for one in candidates:
        alike = one.draft is None
        key = (one.state, one.needs) if alike else id(one)
        groups.setdefault(key, []).append(one)
    return list(groups.values())


def _group(group: list[Candidate], chosen: Candidate | None) -> Iterator[str]:
    first = group[0]
    label, colour = _LABELS[first.state]
    named = "; ".join(_by_backend(group))
    mark = "  <- the recipe begins with this" if first is chosen else ""
    yield f"{click.style(label, fg=colour)}: {click.style(named, bold=True)}{mark}"
    if first.drafter is not None:
        yield from paragraph(f"drafter: {first.drafter.name}", _INDENT)
    for text in first.needs if first.state == "no" else (*first.needs, *first.why):
        yield from paragraph(text, _INDENT)
    if first.can_be_written and first.sampled:
        told = f"exact for greedy requests alone: {first.sampled}"
        yield from paragraph(told, _INDENT)


def _by_backend(group: list[Candidate]) -> Iterator[str]:
    """Name the ways of a group, those of one backend together."""
    for backend in dict.fromkeys(one.backend for one in group):
        methods = (one.method for one in group if one.backend == backend)
        yield f"{', '.join(methods)} on {backend}"
