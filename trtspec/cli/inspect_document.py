"""What ``trtspec inspect --json`` prints; docs/inspect.md explains every key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trtspec import __version__
from trtspec.models.inspection_services import needs, services

if TYPE_CHECKING:
    from trtspec.cli.inspect_scope import Scope
    from trtspec.cli.inspecting import Part
    from trtspec.models.inspection_fit import Comparison
    from trtspec.models.tokenizer import TokenizerVerdicts


def document(
    model: str,
    parts: Sequence[Part],
    compared: Sequence[Comparison],
    scope: Scope,
) -> dict[str, Any]:
    """Describe what was found as JSON values.

    :param compared: per part, how it fits the target; empty without one.
    :returns: the thing itself at the top; an artifact's models under ``parts``.
    """
    described = [
        _part(part, comparison, scope)
        for part, comparison in zip(parts, compared, strict=True)
    ]
    named = {p.name: d for p, d in zip(parts, described, strict=True) if p.name}
    head = {"trtspec": __version__, "model": model}
    return {**head, **described[0], "parts": named}


def _part(part: Part, comparison: Comparison, scope: Scope) -> dict[str, Any]:
    found = part.inspection
    return {
        "directory": None if found.directory is None else str(found.directory),
        "kind": found.kind,
        "title": found.title,
        "told_by": found.told_by,
        "facts": {fact.key: fact.value for fact in found.facts},
        "problems": [asdict(problem) for problem in found.problems],
        "fit": [asdict(one) for one in comparison.fits],
        "tokenizer": _tokenizer(comparison.tokenizer),
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
            for service in services(found, scope.places, scope.families, scope.target)
        ],
        "needs": [asdict(need) for need in needs(found, scope.version)],
    }


def _tokenizer(found: TokenizerVerdicts | None) -> dict[str, Any] | None:
    """Give rows, entries and ids apart, and the settings that differ."""
    if found is None:
        return None
    match = found.ids
    return {
        "rows": _sides(*found.rows),
        "entries": _sides(*found.entries),
        "ids": match
        and {
            "same_tokens": match.same_tokens,
            "differing": match.differing,
            "kinds": {
                kind: {
                    "count": len(ids),
                    "first": [
                        {"id": one.id, **_sides(one.ours, one.theirs)}
                        for one in match.examples[kind]
                    ],
                }
                for kind, ids in match.ids.items()
            },
        },
        "settings": {
            "compared": list(found.compared),
            "differing": [
                {"name": one.name, **_sides(one.ours, one.theirs)}
                for one in found.settings
            ],
        },
    }


def _sides(target: object, drafter: object) -> dict[str, object]:
    return {"target": target, "drafter": drafter}
