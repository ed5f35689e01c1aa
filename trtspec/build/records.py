"""What a manifest says, and whether an artifact says it already."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from trtspec.build.manifest import MANIFEST_SCHEMA, Manifest, SourceRecord, StageRecord
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.files import sha256_json

RESOLVE = "resolve"
ASSEMBLE = "assemble"


@dataclass(frozen=True, slots=True)
class Description:
    """All that a manifest says but for the stages.

    :param texts: the artifact's small files by name.
    :param links: folders that are links to a checkpoint.
    """

    inputs: StageInputs
    versions: Mapping[str, str]
    resolved: StageRecord
    texts: Mapping[str, bytes]
    links: Mapping[str, Source] = field(default_factory=dict)

    def manifest(
        self,
        fingerprint: str,
        records: Sequence[StageRecord],
        assembled: StageRecord,
    ) -> Manifest:
        """Write the manifest of an artifact that is complete now."""
        recipe = self.inputs.recipe
        return Manifest(
            schema=MANIFEST_SCHEMA,
            name=recipe.name,
            fingerprint=fingerprint,
            recipe=recipe.model_dump(mode="json", by_alias=True, exclude_none=True),
            source={s.role: source_record(s) for s in self.inputs.sources},
            links={folder: s.role for folder, s in self.links.items()},
            versions=dict(self.versions),
            ignored=self.inputs.ignored,
            stages=(self.resolved, *records, assembled),
            created=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        )


def source_record(source: Source) -> SourceRecord:
    """Say where a checkpoint came from and what was in it."""
    return SourceRecord(
        model=source.reference.text,
        kind=source.reference.kind,
        revision=source.reference.revision,
        checkpoint=source.kind,
        files=dict(source.files or {}),
    )


def resolve_record(inputs: StageInputs, seconds: float) -> StageRecord:
    """Record which files the references in the recipe stand for."""
    asked: dict[str, str] = {
        s.role: s.reference.text
        + (f"@{s.reference.revision}" if s.reference.revision else "")
        for s in inputs.sources
    }
    found = {
        f"{s.role}/{name}": digest
        for s in inputs.sources
        for name, digest in (s.files or {}).items()
    }
    return _record(RESOLVE, asked, found, "", seconds)


def assemble_record(
    stages: Sequence[Stage | StageRecord], texts: Mapping[str, bytes], seconds: float
) -> StageRecord:
    """Record the artifact's own small files.

    :param stages: the stages before it.
    """
    used = {stage.name: stage.key for stage in stages if stage.folder}
    made = {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}
    return _record(ASSEMBLE, {**used, **made}, made, ".", seconds)


def _record(
    name: str,
    inputs: dict[str, str],
    outputs: dict[str, str],
    folder: str,
    seconds: float,
) -> StageRecord:
    return StageRecord(
        name=name,
        key=sha256_json({"stage": name, "inputs": inputs}),
        inputs=inputs,
        outputs=outputs,
        folder=folder,
        duration_s=round(seconds, 3),
        reused=False,
    )


def says_the_same(one: Manifest, other: Manifest) -> bool:
    """Whether two manifests differ at most in when and how fast things were made."""
    return _lasting(one) == _lasting(other)


def _lasting(manifest: Manifest) -> dict[str, object]:
    passing = {"duration_s", "reused"}
    return manifest.model_dump(
        by_alias=True, exclude={"created": True, "stages": {"__all__": passing}}
    )
