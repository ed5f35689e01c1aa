"""Whether a version can be told all that the recipe says."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Subject
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.compile import compile_args


def can_be_expressed(installation: Installation, subject: Subject) -> Iterator[Finding]:
    """Tell what becomes of the recipe in the version's own configuration."""
    version = installation.version
    if version is None or family_of(version) is None:
        return  # told of as what is missing
    for remark in compile_args(subject.recipe, version, subject.target).remarks:
        yield Finding(
            remark.rule,
            remark.severity,
            subject.where(*remark.key),
            remark.what,
            remark.why,
            remark.action,
            snippet=remark.snippet,
            source=remark.source,
            values=remark.values,
        )
