"""Which features go together with one method, for ``trtspec methods NAME``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import click

from trtspec.cli.methods_text import paragraph
from trtspec.trtllm.combinations.table import (
    NOT_ESTABLISHED,
    cases,
    how,
    shown_features,
    word,
)
from trtspec.trtllm.facts.combinations import Case
from trtspec.trtllm.facts.families import FAMILIES, newest_of

_PAGE = "docs/combinations.md"


def feature_lines(name: str) -> Iterator[str]:
    """Lay out a line per feature with its state in each release family.

    Nothing where backend pytorch has no such method.
    """
    ways: dict[str, dict[str, Case]] = {}
    for family in FAMILIES:
        for case in cases("pytorch", newest_of(family)):
            if case.method == name:
                ways.setdefault(how(case), {})[family] = case
    for way, by_family in ways.items():
        yield ""
        heading = f"{name}{way} with other features, backend pytorch"
        yield click.style(heading, bold=True)
        yield from _of_one_way(by_family)
    if ways:
        yield f"  sources: {_PAGE}"


def _of_one_way(by_family: Mapping[str, Case]) -> Iterator[str]:
    silent = []
    for feature in shown_features("pytorch"):
        words = {family: word(case, feature.name) for family, case in by_family.items()}
        if set(words.values()) == {NOT_ESTABLISHED}:
            silent.append(feature.title)
            continue
        states = ", ".join(f"{family} {state}" for family, state in words.items())
        yield paragraph(f"{feature.title}: {states}", 2)
    if silent:
        yield paragraph(f"not established: {', '.join(silent)}", 2)
