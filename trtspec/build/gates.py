"""What must hold before anything slow happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from textwrap import indent

from trtspec.build.backend import Backend, gpus_seen_by
from trtspec.build.progress import Progress
from trtspec.check import Finding, check_recipe, ignoring
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
    loaded: LoadedRecipe,
    backend: Backend,
    progress: Progress,
    ignored: Collection[str] = (),
) -> None:
    """Check the recipe; what does not block is told.

    :param ignored: rules in spite of whose findings to go on.
    :raises FindingsError: with every blocking finding.
    :raises UsageError: if a rule is unknown or cannot be ignored.
    """
    findings = check_recipe(
        loaded,
        rules=backend.rules,
        version=backend.version,
        gpus=gpus_seen_by(backend),
    )
    refuse_blocking(ignoring(findings, ignored), progress)


def refuse_blocking(findings: Sequence[Finding], progress: Progress) -> None:
    """Tell the warnings, and stop if any finding is blocking and not ignored.

    A warning that is ignored is not told; what would block without that, is.

    :raises FindingsError: with every blocking finding.
    """
    for finding in findings:
        if finding.severity == "warning" and not finding.ignored:
            progress.line(f"warning: {finding.where}: {finding.what}")
        elif finding.severity == "blocking" and finding.ignored:
            progress.line(f"ignored: {finding.where}: {finding.what}")
    blocking = [finding for finding in findings if finding.blocks]
    if blocking:
        raise FindingsError.from_problems(
            Problem(f"{f.what}: {f.why}" if f.why else f.what, f.where, action=_do(f))
            for f in blocking
        )


def _do(finding: Finding) -> str:
    """Say what to do, with what is to be copied below it."""
    copied = indent(finding.snippet, " " * 4)
    return "\n".join(filter(None, (finding.action, copied)))
