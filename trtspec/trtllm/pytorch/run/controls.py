"""Which sampling controls of a request would not be honoured, and what to do instead.

TensorRT-LLM drops some of them in silence under speculation, and newer releases refuse
them once the request is there; so they are refused before anything is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.recipe.schema import Recipe
from trtspec.recipe.suggest import nearest
from trtspec.trtllm.pytorch.run.control_names import (
    ALL,
    FURTHER_RESULTS,
    KINDS,
    LATE,
    OBJECTS,
    ONE_OUTPUT,
    OURS,
)
from trtspec.trtllm.pytorch.run.fates import why_unhonoured
from trtspec.trtllm.pytorch.run.reach import Reach
from trtspec.trtllm.pytorch.run.sampling import GUIDED


def refusals(
    controls: Mapping[str, object], reach: Reach, where: str
) -> tuple[Problem, ...]:
    """Say of each control that cannot be had why, and what to do.

    :param controls: name in ``SamplingParams`` → value.
    :param where: the request, for messages.
    """
    found = (_refusal(name, value, reach) for name, value in controls.items())
    return tuple(
        Problem(p.what, p.where or where, p.allowed, p.action) for p in found if p
    )


def misnamed(controls: Mapping[str, object], where: str) -> tuple[Problem, ...]:
    """Say of each control what no release and no recipe would mend.

    :param where: what gives them, for messages.
    """
    found = (_misnamed(name, value) for name, value in controls.items())
    return tuple(Problem(p.what, where, p.allowed, p.action) for p in found if p)


def _misnamed(name: str, value: object) -> Problem | None:
    if name in KINDS:
        return _wrong_value(name, value)
    return _not_ours_to_give(name) or _without_place(name)


def unhonoured(recipe: Recipe, version: Version) -> tuple[str, ...]:
    """Say which controls a server would take and not honour, and what it does instead.

    Guided decoding that the recipe leaves out is none of them.

    :param recipe: what the server serves, of backend pytorch.
    :param version: the server's; one of a family.
    :returns: names with what becomes of them, those of the same fate together.
    """
    reach = Reach.of(recipe, version, over_http=True)
    names: dict[str, list[str]] = {}
    for name in (n for n in ALL if n in reach.served and n not in OURS):
        problem = why_unhonoured(name, reach)
        if problem and (name != GUIDED or reach.guides):
            names.setdefault(problem.what.removeprefix(name), []).append(name)
    return tuple(f"{', '.join(each)}{fate}" for fate, each in names.items())


def _refusal(name: str, value: object, reach: Reach) -> Problem | None:
    return (
        _not_ours_to_give(name)
        or _missing(name, reach)
        or _unhonoured(name, reach)
        or _without_place(name)
        or _not_over_http(name, reach)
        or _wrong_value(name, value)
    )


def _not_ours_to_give(name: str) -> Problem | None:
    if name not in ALL:
        return _unknown(name)
    if name in OURS:
        what = f"{name} is set by trtspec itself"
        return Problem(what, action=f"use {OURS[name]}")
    return None


def _unhonoured(name: str, reach: Reach) -> Problem | None:
    """Refuse what the release would not honour; without drafts there may be no place.

    The advice is then the one that holds with speculation and without.
    """
    problem, anyway = why_unhonoured(name, reach), _without_place(name)
    if problem is None or anyway is None:
        return problem
    return replace(problem, action=anyway.action)


def _unknown(name: str) -> Problem:
    meant = nearest(name, ALL)
    hint = f"did you mean {meant}?" if meant else "leave it out"
    return Problem(
        f"TensorRT-LLM has no sampling control {name!r}",
        allowed=", ".join(sorted(KINDS)),
        action=hint,
    )


def _missing(name: str, reach: Reach) -> Problem | None:
    if name not in LATE or name in reach.served:
        return None
    return Problem(f"TensorRT-LLM {reach.version} has no {name}", action="leave it out")


def _without_place(name: str) -> Problem | None:
    """Refuse what trtspec's results could not hold, or the command line not say."""
    if name in ONE_OUTPUT:
        what = f"{name}: a request has one output, sampled or greedy"
        return Problem(what, action="send the prompt several times, or leave it out")
    if name in FURTHER_RESULTS:
        what = f"{name}: a result holds tokens and text, and nothing else"
        return Problem(what, action="ask trtllm-serve itself: trtspec serve")
    if name in OBJECTS:
        return Problem(f"{name} takes a Python object", action="leave it out")
    return None


def _not_over_http(name: str, reach: Reach) -> Problem | None:
    if not reach.over_http or name in reach.served:
        return None
    return Problem(
        f"trtllm-serve takes no {name}",
        allowed=", ".join(sorted(reach.served & set(KINDS))),
        action="run in process: without --url and --server",
    )


def _wrong_value(name: str, value: object) -> Problem | None:
    kind = KINDS[name]
    if kind.accepts(value):
        return None
    return Problem(f"{name} is {value!r}", allowed=kind.words)
