"""What must hold before anything slow happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence

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
            Problem(f"backend {backend.name} is not available here: {text}")
            for text in missing
        )


def require_no_findings(loaded: LoadedRecipe, progress: Progress) -> None:
    """Check the recipe; what does not block is told.

    :raises FindingsError: with every blocking finding.
    """
    refuse_blocking(check_recipe(loaded), progress)


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
