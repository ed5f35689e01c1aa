"""On how many GPUs a way fits, and with how many requests, as check plans memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from packaging.version import Version

from trtspec.advise.drafters import Drafter
from trtspec.advise.recipe import Draft, Size, Way, Wish, draft_recipe
from trtspec.check.finding import Finding
from trtspec.recipe.load import LoadedRecipe
from trtspec.recipe.schema import Recipe

Check = Callable[[LoadedRecipe], Sequence[Finding]]
_MEMORY = "memory"
_TOO_MANY_REQUESTS = "memory-limits"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides which ways there are.

    :param check: what is wrong with a recipe, on this installation and its GPUs.
    :param recipe: file that the recipe is to be written to.
    :param version: of TensorRT-LLM; None if there is none.
    :param most_gpus: that can share the target.
    """

    wish: Wish
    drafters: tuple[Drafter, ...]
    backends: tuple[str, ...]
    check: Check
    recipe: Path
    version: Version | None = None
    most_gpus: int = 1


class Checked(NamedTuple):
    """A recipe with what check found in it."""

    draft: Draft
    recipe: Recipe
    findings: tuple[Finding, ...]


def checked(given: Circumstances, way: Way) -> Checked:
    """Draft a way's recipe on the fewest GPUs that hold it, and check it.

    Where even the most hold fewer requests than it is drafted for, it is drafted for
    as many as they hold.
    """
    found = None
    for gpus in _sizes(given.most_gpus if way.backend != "reference" else 1):
        found = _check(given, way, Size(gpus))
        if not _is_short_of_memory(found):
            return found
    assert found is not None, "there is one GPU at least"
    fewer = _requests_that_fit(found)
    if fewer is None:
        return found
    gpus = found.draft.content["target"].get("tensor_parallel", 1)
    return _check(given, way, Size(gpus, fewer))


def _check(given: Circumstances, way: Way, size: Size) -> Checked:
    draft = draft_recipe(given.wish, way, size)
    recipe = Recipe.model_validate(draft.content)
    loaded = LoadedRecipe(recipe, given.recipe, {(): 1})
    return Checked(draft, recipe, tuple(given.check(loaded)))


def _sizes(most: int) -> Iterator[int]:
    """Give 1, 2, 4, ...: heads and rows are split evenly."""
    size = 1
    while size <= most:
        yield size
        size *= 2


def _is_short_of_memory(found: Checked) -> bool:
    return any(
        f.rule.startswith(_MEMORY) and f.severity != "note" for f in found.findings
    )


def _requests_that_fit(found: Checked) -> int | None:
    """Give how many requests fit, if that is all that is wrong with the memory."""
    for finding in found.findings:
        requests = finding.values.get("requests")
        if finding.rule == _TOO_MANY_REQUESTS and isinstance(requests, float | int):
            return int(requests) or None
    return None
