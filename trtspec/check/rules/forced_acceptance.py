"""Whether this shell's environment would falsify what is run or measured from it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from trtspec.check.finding import Finding, Severity
from trtspec.check.subject import Subject
from trtspec.forced_acceptance import (
    TENSORRT_LLM,
    Forced,
    forced_settings,
    forced_variables,
)

_MEANINGLESS = "the text would be meaningless, and no speed-up would be one"


def forced_acceptance(subject: Subject) -> Iterator[Finding]:
    """Refuse acceptance that is forced; name a variable that has no effect here."""
    yield from by_variables(os.environ, subject.recipe.backend)
    options = subject.recipe.pytorch
    for forced in forced_settings(options.llm_args if options else {}):
        finding = _finding(forced, "blocking", _MEANINGLESS)
        where = subject.where("pytorch", "llm_args")
        yield replace(finding, where=where, action=f"delete {forced.switch.name}")


def by_variables(environment: Mapping[str, str], backend: str) -> Iterator[Finding]:
    """Say of each variable in force what it does to a backend."""
    for forced in forced_variables(environment):
        unset = f"unset {forced.switch.name}"
        if backend == "pytorch" and forced.switch.engine == TENSORRT_LLM:
            why = f"{_MEANINGLESS}: serve, run and bench refuse to start with it"
            finding = _finding(forced, "blocking", why)
        else:
            why = f"backend {backend} does not read it; bench refuses it all the same"
            finding = _finding(forced, "note", why)
        yield replace(finding, action=unset, snippet=unset)


def _finding(forced: Forced, severity: Severity, why: str) -> Finding:
    return Finding(
        "forced-acceptance",
        severity,
        f"${forced.switch.name}",
        str(forced),
        why,
        source=forced.switch.source,
        values={
            "value": forced.value,
            "acceptance_length": forced.acceptance_length,
            "engine": forced.switch.engine,
        },
    )
