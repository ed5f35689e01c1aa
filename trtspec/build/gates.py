"""What must hold before anything slow happens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from textwrap import indent

from trtspec.build.backend import Backend, gpus_seen_by
from trtspec.build.progress import Progress
from trtspec.check import Finding, check_recipe, ignoring
from trtspec.check.checks import Find
from trtspec.check.resolve import resolve
from trtspec.errors import BackendUnavailableError, FindingsError, Problem
from trtspec.gpu_kinds import GpuKind
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


def check_for(
    loaded: LoadedRecipe,
    backend: Backend,
    *,
    gpus: Sequence[GpuKind] | None = None,
    missing: bool = False,
    find: Find = resolve,
) -> list[Finding]:
    """Check a recipe as its backend has it: with its rules, version and GPUs.

    :param gpus: that it is to run on; those that the backend sees, if None.
    :param missing: whether to name the software, too, that is not here; a build says
        that by itself.
    :param find: what looks at the models.
    :returns: findings, the blocking ones first.
    """
    return check_recipe(
        loaded,
        missing=backend.missing if missing else None,
        rules=backend.rules,
        version=backend.version,
        gpus=gpus_seen_by(backend) if gpus is None else gpus,
        find=find,
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
    findings = ignoring(check_for(loaded, backend), ignored)
    tell_unused(findings, ignored, progress)
    refuse_blocking(findings, progress)


def refuse_blocking(findings: Sequence[Finding], progress: Progress) -> None:
    """Tell the warnings, and stop if any finding is blocking and not ignored.

    A warning that is ignored is not told; what would block without that, is.

    :raises FindingsError: with every blocking finding.
    """
    for finding in findings:
        if finding.severity == "warning" and not finding.ignored:
            progress.line(f"warning: {_said(finding)}")
        elif finding.severity == "blocking" and finding.ignored:
            progress.line(f"ignored: {_said(finding)}")
    blocking = [finding for finding in findings if finding.blocks]
    if blocking:
        raise FindingsError.from_problems(
            Problem(_told(f), f.where, action=_do(f)) for f in blocking
        )


def tell_unused(
    findings: Sequence[Finding], ignored: Collection[str], progress: Progress
) -> None:
    """Say of which rules that are to be ignored there is no finding."""
    found = {finding.rule for finding in findings}
    for rule in ignored:
        if rule not in found:
            progress.line(f"no finding of {rule}: there is nothing to ignore")


def _said(finding: Finding) -> str:
    return f"{finding.where}: {finding.what} ({finding.rule})"


def _told(finding: Finding) -> str:
    """State what was found, the rule (which ``--ignore`` takes), and why it matters."""
    what = f"{finding.what} ({finding.rule})"
    return f"{what}: {finding.why}" if finding.why else what


def _do(finding: Finding) -> str:
    """Say what to do, with what is to be copied below it."""
    copied = indent(finding.snippet, " " * 4)
    return "\n".join(filter(None, (finding.action, copied)))
