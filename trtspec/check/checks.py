"""What would go wrong with a recipe, found before anything slow happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from trtspec.check.finding import SEVERITIES, Finding
from trtspec.check.resolve import resolve
from trtspec.check.rules import MODEL_RULES, RULES
from trtspec.check.subject import Subject, Where, key_itself
from trtspec.models.info import ModelInfo
from trtspec.recipe.load import LoadedRecipe
from trtspec.recipe.schema import Recipe

Missing = Callable[[Collection[str]], Sequence[str]]
"""From the checkpoints' formats to what is not installed; see ``Backend.missing``."""


def check_recipe(
    loaded: LoadedRecipe,
    *,
    missing: Missing | None = None,
    free_memory: int | None = None,
) -> list[Finding]:
    """Check a recipe with its models, its workload and this machine.

    Reads configurations and headers only, and uses no network.

    :param missing: the backend's ``missing``; without it software is not checked.
    :param free_memory: bytes; by default what is free here.
    :returns: findings, the blocking ones first.
    """
    target, draft = resolve(loaded, "target"), resolve(loaded, "draft")
    known = [model.info for model in (target, draft) if model.info is not None]
    subject = Subject(
        recipe=loaded.recipe,
        where=loaded.where,
        target=target.info,
        draft=draft.info,
        base=loaded.base,
        missing=tuple(missing({m.format for m in known})) if missing else (),
        free_memory=_available() if free_memory is None else free_memory,
    )
    findings = [finding for rule in RULES for finding in rule(subject)]
    return _ordered([*target.findings, *draft.findings, *findings])


def check_models(
    target: ModelInfo,
    draft: ModelInfo | None,
    recipe: Recipe,
    where: Where = key_itself,
) -> list[Finding]:
    """Check two described checkpoints, such as converted ones, against a recipe.

    Token ids are read from the checkpoints' directories.

    :param where: gives the place of a key; by default the key itself.
    :returns: findings, the blocking ones first.
    """
    subject = Subject(recipe, where, target, draft)
    return _ordered([finding for rule in MODEL_RULES for finding in rule(subject)])


def _ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _available() -> int:
    import psutil

    return int(psutil.virtual_memory().available)
