"""Which features go together with one method, for ``trtspec methods NAME``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from trtspec.cli.methods_text import paragraph
from trtspec.trtllm.combinations.table import (
    NOT_ESTABLISHED,
    cases,
    how,
    not_beside,
    shown_features,
    word,
)
from trtspec.trtllm.facts.combinations import Case
from trtspec.trtllm.facts.families import FAMILIES, newest_of

_PAGE = "docs/combinations.md"
_LEGEND = (
    "refused: it ends with an error, or upstream says no. broken: it was reported to "
    "fail. ignored: it is switched off. untested: upstream says so, or its sources "
    f"disagree. ?: no source settles it. Sources: {_PAGE}."
)
_WORKS = "works"
_UNKNOWN = "not established"


def feature_lines(name: str) -> Iterator[str]:
    """Lay out a line per feature with its state in each release family.

    Features that work in all of them share a line, and so do those of which nothing is
    established.

    Nothing where backend pytorch has no such method.
    """
    ways = _ways(name)
    for way, by_family in ways.items():
        yield ""
        heading = f"{name}{way} with other features, backend pytorch"
        yield click.style(heading, bold=True)
        yield from _of_one_way(by_family)
    if ways:
        yield ""
        yield paragraph(_LEGEND)


def feature_states(name: str) -> list[dict[str, Any]]:
    """Give the same as JSON values: an entry per way of drafting, family and feature.

    What no source settles is ``not established``; ``not_beside`` names the features
    that spoil it when they are asked for too.
    """
    return [
        {
            "backend": "pytorch",
            "drafting": way.strip(),
            "family": family,
            "version": str(case.version),
            "feature": feature.name,
            "title": feature.title,
            "state": _state(case, feature.name),
            "not_beside": list(not_beside(case, feature.name)),
        }
        for way, by_family in _ways(name).items()
        for family, case in by_family.items()
        for feature in shown_features("pytorch")
    ]


def _ways(name: str) -> dict[str, dict[str, Case]]:
    """Give the cases of a method, by the way in which it drafts and by family."""
    ways: dict[str, dict[str, Case]] = {}
    for family in FAMILIES:
        for case in cases("pytorch", newest_of(family)):
            if case.method == name:
                ways.setdefault(how(case), {})[family] = case
    return ways


def _state(case: Case, feature: str) -> str:
    state = word(case, feature)
    return _UNKNOWN if state == NOT_ESTABLISHED else state


def _of_one_way(by_family: Mapping[str, Case]) -> Iterator[str]:
    alike: dict[str, list[str]] = {_WORKS: [], NOT_ESTABLISHED: []}
    for feature in shown_features("pytorch"):
        words = {family: word(case, feature.name) for family, case in by_family.items()}
        said = next(iter(words.values()))
        if said in alike and set(words.values()) == {said}:
            alike[said].append(feature.title)
            continue
        states = ", ".join(f"{family} {state}" for family, state in words.items())
        yield paragraph(f"{feature.title}: {states}", 2)
    if works := alike[_WORKS]:
        yield paragraph(f"{_WORKS} in every release here: {', '.join(works)}", 2)
    if silent := alike[NOT_ESTABLISHED]:
        yield paragraph(f"{_UNKNOWN}: {', '.join(silent)}", 2)
