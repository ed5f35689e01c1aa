"""What ``trtspec inspect --json`` prints; docs/inspect.md explains every key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtspec import __version__
from trtspec.models.inspection_services import needs, services

if TYPE_CHECKING:
    from packaging.version import Version

    from trtspec.cli.inspecting import Part
    from trtspec.methods.catalogue import Place
    from trtspec.models.inspection_fit import Fit


def document(
    model: str,
    parts: Sequence[Part],
    found: Sequence[Sequence[Fit]],
    places: Sequence[Place],
    version: Version | None,
) -> dict[str, Any]:
    """Describe what was found as JSON values.

    :param found: per part, how it fits the target; empty without one.
    :returns: the thing itself at the top; an artifact's models under ``parts``.
    """
    described = [
        _part(part, fit, places, version)
        for part, fit in zip(parts, found, strict=True)
    ]
    named = {p.name: d for p, d in zip(parts, described, strict=True) if p.name}
    head = {"trtspec": __version__, "model": model}
    return {**head, **described[0], "parts": named}


def _part(
    part: Part, fit: Sequence[Fit], places: Sequence[Place], version: Version | None
) -> dict[str, Any]:
    found = part.inspection
    return {
        "directory": None if found.directory is None else str(found.directory),
        "kind": found.kind,
        "title": found.title,
        "told_by": found.told_by,
        "facts": {fact.key: fact.value for fact in found.facts},
        "problems": [asdict(problem) for problem in found.problems],
        "fit": [asdict(one) for one in fit],
        "serves": [
            {
                "method": service.method,
                "as": service.role,
                "places": [
                    {
                        "backend": standing.place.backend,
                        "family": standing.place.family,
                        "output": standing.word,
                    }
                    for standing in service.standings
                ],
                "unread": service.unread,
            }
            for service in services(found, places)
        ],
        "needs": [asdict(need) for need in needs(found, version)],
    }
