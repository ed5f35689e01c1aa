"""What would go wrong with a recipe, found before anything slow happens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from packaging.version import Version

from trtspec.check.finding import SEVERITIES, Finding
from trtspec.check.resolve import Resolved, resolve
from trtspec.check.rules import MODEL_RULES, RULES, Rule
from trtspec.check.rules.memory import gpu_memory
from trtspec.check.rules.method import METHOD
from trtspec.check.subject import Role, Subject, Where, key_itself
from trtspec.errors import Problem
from trtspec.gpu_kinds import GpuKind
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.recipe.load import LoadedRecipe
from trtspec.recipe.schema import Recipe

Missing = Callable[[Collection[str]], Sequence[Problem]]
"""From the checkpoints' formats to what is not installed; see ``Backend.missing``."""
Find = Callable[[LoadedRecipe, Role], Resolved]
"""From a recipe and a role to the model that is meant; see ``resolve``."""


def check_recipe(
    loaded: LoadedRecipe,
    *,
    missing: Missing | None = None,
    free_memory: int | None = None,
    rules: Sequence[Rule] = (),
    version: Version | None = None,
    gpus: Sequence[GpuKind] = (),
    find: Find = resolve,
) -> list[Finding]:
    """Check a recipe with its models, its workload and this machine.

    Reads configurations and headers only, and uses no network.

    :param missing: the backend's ``missing``; without it software is not checked.
    :param free_memory: bytes; by default what is free here.
    :param rules: the backend's own, looked at after ours.
    :param version: of TensorRT-LLM, if the backend is one of its.
    :param gpus: that the recipe is to run on, one by one; empty if not known.
    :param find: what looks at the models, for who checks many recipes of the same.
    :returns: findings, the blocking ones first.
    """
    target, draft = find(loaded, "target"), find(loaded, "draft")
    known = [
        found for found in (target.info, draft.info, draft.drafter) if found is not None
    ]
    subject = Subject(
        recipe=loaded.recipe,
        where=loaded.where,
        target=target.info,
        draft=draft.info,
        base=loaded.base,
        missing=tuple(missing({m.format for m in known})) if missing else (),
        free_memory=_available() if free_memory is None else free_memory,
        drafter=draft.drafter,
        version=version,
        gpus=tuple(gpus),
    )
    held = [
        partial(rule, rules=rules) if rule is gpu_memory else rule for rule in RULES
    ]
    ours = [f for rule in held for f in _looked(rule, subject)]
    backends = [f for rule in rules for f in _looked(rule, subject)]
    findings = [*_not_repeated(ours, backends), *backends]
    return _ordered([*target.findings, *draft.findings, *findings])


def check_models(
    target: ModelInfo,
    draft: ModelInfo | None,
    recipe: Recipe,
    where: Where = key_itself,
    drafter: DrafterInfo | None = None,
) -> list[Finding]:
    """Check two described checkpoints, such as converted ones, against a recipe.

    Token ids are read from the checkpoints' directories.

    :param where: gives the place of a key; by default the key itself.
    :param drafter: what drafts, if it is no model of its own.
    :returns: findings, the blocking ones first.
    """
    subject = Subject(recipe, where, target, draft, drafter=drafter)
    return _ordered([f for rule in MODEL_RULES for f in _looked(rule, subject)])


def _looked(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Give what a rule finds; one that fails says so, and stops no other.

    It blocks: what the rule would have refused is not known.
    """
    try:
        yield from rule(subject)
    except Exception as error:  # noqa: BLE001  whatever it is, the others go on
        function = getattr(rule, "func", rule)
        name = f"{function.__module__}.{getattr(function, '__qualname__', function)}"
        yield Finding(
            "rule-failed",
            "blocking",
            subject.where("schema"),
            f"the rule {name} failed: {type(error).__name__}: {error}",
            "it could not look at this recipe; the other findings hold",
            "report it with the recipe and the model's config.json, or go on with "
            "--ignore rule-failed",
        )


def _not_repeated(ours: list[Finding], backends: list[Finding]) -> list[Finding]:
    """Leave out that a method is missing where the backend's own rule says so."""
    told = {f.where for f in backends if f.rule == METHOD and f.severity == "blocking"}
    return [f for f in ours if f.rule != METHOD or f.where not in told]


def _ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


def _available() -> int:
    import psutil

    return int(psutil.virtual_memory().available)
