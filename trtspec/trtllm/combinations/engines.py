"""Whether engines of this version have what is asked for together with speculation."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm import facts
from trtspec.trtllm.combinations.asked import asked_of_engines
from trtspec.trtllm.combinations.findings import findings_of, without_a_version
from trtspec.trtllm.facts.combinations import Case
from trtspec.trtllm.installation import Installation


def go_together_on_engines(
    installation: Installation, subject: Subject
) -> Iterator[Finding]:
    """Say of each feature what the engine backend of this version does with it."""
    version, method = installation.version, subject.recipe.speculation.method
    if method == "none" or (version and not facts.has_backend(version)):
        return
    asked = tuple(asked_of_engines(subject))
    if version is None:
        yield from without_a_version(subject, asked)
        return
    case = Case("tensorrt", version, method, also={one.feature for one in asked})
    yield from findings_of(case, asked, told=True)
