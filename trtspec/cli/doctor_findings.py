"""What ``trtspec doctor`` has to say of how this machine's parts fit together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from trtspec.check.finding import SEVERITIES, Finding
from trtspec.check.rules.forced_acceptance import by_variables
from trtspec.trtllm.environment import environment_findings
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.surroundings import Surroundings, look_around


def doctor_findings(
    installation: Installation, around: Surroundings | None = None
) -> list[Finding]:
    """Give driver, CUDA and TensorRT findings, and variables that falsify a run.

    :param around: signs of driver and container; by default those that are here.
    :returns: the blocking ones first.
    """
    found = [
        *environment_findings(installation, around or look_around()),
        *_forced(),
    ]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding.severity))


def _forced() -> Iterator[Finding]:
    """Name variables that force acceptance; for no backend in particular."""
    for finding in by_variables(os.environ, "pytorch"):
        engine = finding.values["engine"]
        why = f"whatever {engine} runs from this shell is meaningless text"
        yield replace(finding, severity="warning", why=why)
