"""Whether a server of this version has what is asked for together with speculation."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.methods import Eagle3
from trtspec.trtllm import facts
from trtspec.trtllm.combinations.asked import asked_of_server
from trtspec.trtllm.combinations.findings import UNKNOWN, findings_of, without_a_version
from trtspec.trtllm.facts.combinations import ONE_MODEL_ONLY, OUTSIDE, Case, Shape
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile import schedule
from trtspec.trtllm.pytorch.compile.subject import Subject as Compiled
from trtspec.trtllm.pytorch.compile.words import is_refused_key
from trtspec.trtllm.versions import contains

_ZERO_RUNG = "zero_rung"
_BACKEND = ">=1.0.0.dev0"
"""Versions with backend pytorch, candidates among them."""


def go_together_served(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Say of each feature what backend pytorch of this version does with it."""
    if subject.recipe.speculation.method == "none":
        return
    asked = tuple(asked_of_server(subject))
    version = installation.version
    if version is None:
        yield from without_a_version(subject, asked)
    elif _has_method(subject, version):
        case = Case(
            "pytorch",
            version,
            subject.recipe.speculation.method,
            _shape(subject, version),
            bool(getattr(subject.recipe.speculation, "tree", None)),
            {one.feature for one in asked} | _zero_rung(subject),
        )
        told = family_of(version) is not None
        left = [one for one in asked if not (told and is_refused_key(one.key))]
        for finding in findings_of(case, left, told=told):
            # a release of no family is refused as a whole: its defaults are no matter
            if told or finding.rule != UNKNOWN or finding.severity != "note":
                yield finding


def _has_method(subject: Subject, version: Version) -> bool:
    """Whether the version runs the method at all; if not, another rule says so."""
    if family_of(version) is None:
        return contains(_BACKEND, version)
    return facts.engine_shape(subject.recipe.speculation.method, version) is not None


def _shape(subject: Subject, version: Version) -> Shape:
    """Where the drafter runs, for candidates between two families as well."""
    family, method = family_of(version), subject.recipe.speculation
    if family is not None:
        shape = Compiled(subject.recipe, version, family, subject.target).shape
        return "" if shape == "none" else shape
    if method.method in OUTSIDE:
        return "outside"
    if contains(ONE_MODEL_ONLY, version):
        return "one model"
    if isinstance(method, Eagle3):
        return "two models" if method.two_model else "one model"
    return "two models" if method.method == "draft_target" else "one model"


def _zero_rung(subject: Subject) -> set[str]:
    """Whether nothing is drafted for some batch."""
    length = getattr(subject.recipe.speculation, "draft_length", 0)
    batch = subject.recipe.limits.max_batch_size
    return {_ZERO_RUNG} if schedule.reaches_zero(length, batch) else set()
