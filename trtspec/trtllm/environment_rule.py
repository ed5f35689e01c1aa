"""Whether this machine's software fits together, as a rule of both backends."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.environment import environment_findings
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.surroundings import look_around


def software_fits(installation: Installation, _: Subject) -> Iterator[Finding]:
    """Look at driver, CUDA and TensorRT, where TensorRT-LLM is installed at all."""
    if installation.package is not None:
        yield from environment_findings(installation, look_around())
