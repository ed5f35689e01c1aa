"""How a recipe becomes an artifact: what is done is kept, what is missing is made."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trtspec.build.alias import alias_links
from trtspec.build.artifact import CHAT_TEMPLATE, MANIFEST, Artifact
from trtspec.build.assemble import assemble, rewrite_texts
from trtspec.build.backend import Backend
from trtspec.build.fingerprint import artifact_name, fingerprint
from trtspec.build.gates import require_backend, require_no_findings
from trtspec.build.links import lead_there, links_of
from trtspec.build.locks import held, sweep
from trtspec.build.manifest import Manifest, StageRecord
from trtspec.build.progress import SILENT, Progress
from trtspec.build.records import (
    RESOLVE,
    Description,
    assemble_record,
    resolve_record,
    says_the_same,
)
from trtspec.build.resolve import fetched, inspected, named
from trtspec.build.self_contained import artifact_texts, self_contained
from trtspec.build.sources import StageInputs
from trtspec.build.space import require_writable, writing
from trtspec.build.stage import Stage
from trtspec.build.store import StageStore, StoredStage
from trtspec.errors import TrtspecError
from trtspec.recipe.load import LoadedRecipe


@dataclass(frozen=True, slots=True)
class Built:
    """An artifact, and what this build did for it.

    :param stages: in order; ``reused`` tells what an earlier build had left.
    """

    artifact: Artifact
    stages: tuple[StageRecord, ...]


def build(
    loaded: LoadedRecipe,
    backend: Backend,
    engines: Path,
    progress: Progress = SILENT,
    *,
    ignored: Collection[str] = (),
) -> Built:
    """Build a recipe's artifact, or find it built already.

    :param engines: directory of the artifacts; made if it is not there.
    :param ignored: rules in spite of whose findings to go on; the manifest lists them.
    :raises BackendUnavailableError: if what the backend needs is not installed.
    :raises FindingsError: if a check finds something that must not go ahead.
    :raises UsageError: if a model or the prompts cannot be read, or ``engines`` cannot
        be written.
    :raises BuildError: if a stage fails or the disk is full; stages that were
        completed are kept.
    """
    require_backend(backend)
    # before anything slow: what can be found without a download
    require_no_findings(loaded, backend, progress, ignored)
    texts = artifact_texts(loaded)
    require_writable(engines)
    with writing(engines):
        sweep(engines)
    inputs = replace(named(loaded), ignored=tuple(sorted(set(ignored))))
    description = _resolve(loaded, backend, inputs, texts, progress)
    stages = backend.stages(description.inputs)
    work = _Work(description, stages, engines, progress)
    with writing(engines), held(engines, work.destination.name, progress):
        return work.reuse() or work.make()


def _resolve(
    loaded: LoadedRecipe,
    backend: Backend,
    inputs: StageInputs,
    texts: dict[str, bytes],
    progress: Progress,
) -> Description:
    started = time.perf_counter()
    if any(source.directory is None for source in inputs.sources):
        inputs = fetched(inputs, progress)
        require_no_findings(loaded, backend, progress, inputs.ignored)
    inputs = inspected(inputs, progress)
    require_backend(backend, inputs.formats)
    resolved = resolve_record(inputs, time.perf_counter() - started)
    _report(progress, resolved)
    links = backend.links(inputs)
    return Description(inputs, backend.versions(), resolved, texts, links)


def _report(progress: Progress, record: StageRecord) -> None:
    if progress.news_only and (record.reused or record.name == RESOLVE):
        return
    took = "reused" if record.reused else f"{record.duration_s:.1f} s"
    progress.line(f"{record.name:<16}{took:>8}")


class _Work:
    """One artifact under its lock."""

    def __init__(
        self,
        description: Description,
        stages: Sequence[Stage],
        engines: Path,
        progress: Progress,
    ) -> None:
        self._description = description
        self._stages = stages
        self._engines = engines
        self._progress = progress
        inputs = description.inputs
        template = description.texts.get(CHAT_TEMPLATE)
        self._fingerprint = fingerprint(inputs.recipe, inputs.files, stages, template)
        name = artifact_name(inputs.recipe.name, self._fingerprint)
        self.destination = engines / name
        own = alias_links(inputs.recipe.backend, name)
        self._links = links_of(description.links) | own

    def reuse(self) -> Built | None:
        """Take the artifact that is there, with this recipe's workload; or None."""
        there = self._complete_artifact()
        keys = {stage.name: stage.key for stage in self._stages}
        kept = [s for s in there.manifest.stages if s.name in keys] if there else []
        if there is None or {s.name: s.key for s in kept} != keys:
            return None
        for record in (reused := _as_reused(kept)):
            _report(self._progress, record)
        wanted = self._manifest(kept, time.perf_counter())
        unmoved = lead_there(self.destination, self._links)
        if unmoved and says_the_same(wanted, there.manifest):
            assembled = _as_reused(there.manifest.stages[-1:])
            return self._built(there.manifest, [*reused, *assembled])
        texts = self._description.texts
        rewrite_texts(self.destination, texts, wanted, self._links)
        return self._built(wanted, [*reused, wanted.stages[-1]])

    def make(self) -> Built:
        """Run or reuse each stage, then assemble."""
        store = StageStore(self._engines, self._progress)
        stored: dict[str, StoredStage] = {}
        for stage in self._stages:
            used = {earlier.name: stored[earlier.name].output for earlier in stage.uses}
            stored[stage.name] = store.obtain(stage, used)
            _report(self._progress, stored[stage.name].record)
        started = time.perf_counter()
        records = [kept.record for kept in stored.values()]
        manifest = assemble(
            self.destination,
            list(stored.values()),
            self._description.texts,
            lambda: self._manifest(records, started),
            self._links,
        )
        return self._built(manifest, manifest.stages[1:])

    def _complete_artifact(self) -> Artifact | None:
        if not (self.destination / MANIFEST).is_file():
            return None
        try:
            return Artifact.open(self.destination, self._progress)
        except TrtspecError as error:
            self._progress.line(f"{self.destination}: {error.problems[0].what}; mended")
            return None

    def _manifest(self, records: Sequence[StageRecord], started: float) -> Manifest:
        texts = self._description.texts
        assembled = assemble_record(records, texts, time.perf_counter() - started)
        return self._description.manifest(self._fingerprint, records, assembled)

    def _built(self, manifest: Manifest, records: Sequence[StageRecord]) -> Built:
        """Report the last stage and give the artifact."""
        _report(self._progress, records[-1])
        recipe = self_contained(self._description.inputs.recipe)
        artifact = Artifact(self.destination, manifest, recipe)
        return Built(artifact, (self._description.resolved, *records))


def _as_reused(records: Sequence[StageRecord]) -> list[StageRecord]:
    return [record.model_copy(update={"reused": True}) for record in records]
