"""What must hold before anything slow happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from trtspec.build.backend import Backend
from trtspec.build.progress import Progress
from trtspec.check import Finding, check_recipe
from trtspec.errors import BackendUnavailableError, FindingsError, Problem
from trtspec.recipe.load import LoadedRecipe


def require_backend(backend: Backend, formats: Collection[str] = ()) -> None:
    """Refuse to begin what this machine cannot finish.

    :param formats: formats of the checkpoints, as far as they are known.
    :raises BackendUnavailableError: naming what is missing and how to install it.
    """
    if missing := backend.missing(formats):
        raise BackendUnavailableError.from_problems(
            replace(
                problem,
                what=f"backend {backend.name} is not available here: {problem.what}",
            )
            for problem in missing
        )


def require_no_findings(
    loaded: LoadedRecipe, backend: Backend, progress: Progress
) -> None:
    """Check the recipe; what does not block is told.

    :raises FindingsError: with every blocking finding.
    """
    findings = check_recipe(loaded, rules=backend.rules, version=backend.version)
    refuse_blocking(findings, progress)


def refuse_blocking(findings: Sequence[Finding], progress: Progress) -> None:
    """Tell the warnings, and stop if any finding is blocking.

    :raises FindingsError: with every blocking finding.
    """
    for finding in findings:
        if finding.severity == "warning":
            progress.line(f"warning: {finding.where}: {finding.what}")
    blocking = [finding for finding in findings if finding.severity == "blocking"]
    if blocking:
        raise FindingsError.from_problems(
            Problem(f"{f.what}: {f.why}" if f.why else f.what, f.where, action=f.action)
            for f in blocking
        )
