"""How stage outputs become an artifact that is complete or absent at every instant."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trtspec.build.artifact import LOGS, MANIFEST, OPTIONAL_TEXTS
from trtspec.build.links import Links, place_links
from trtspec.build.locks import temporary_artifact
from trtspec.build.manifest import Manifest
from trtspec.build.place import place_folder, remove_leftovers, replace_text
from trtspec.build.store import StoredStage


def assemble(
    destination: Path,
    stored: Sequence[StoredStage],
    texts: Mapping[str, bytes],
    manifest: Callable[[], Manifest],
    links: Links | None = None,
) -> Manifest:
    """Make the artifact, or mend what is there.

    What makes a directory an artifact is its manifest, so that comes last; a new
    directory is filled under another name and then renamed.

    :param texts: the small files in its root, by name.
    :param manifest: gives the manifest once all else is in its place.
    :param links: folders that lead to checkpoints.
    :returns: the manifest that was written.
    """
    if destination.is_dir():
        _fill(destination, stored, texts, links or {})
        return _finish(destination, manifest())
    temporary = temporary_artifact(destination.parent, destination.name, os.getpid())
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        _fill(temporary, stored, texts, links or {})
        written = _finish(temporary, manifest())
        temporary.rename(destination)
        return written
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def rewrite_texts(
    destination: Path,
    texts: Mapping[str, bytes],
    manifest: Manifest,
    links: Links | None = None,
) -> Manifest:
    """Replace the small files of a complete artifact; its models stay untouched.

    :param links: folders that lead to checkpoints, which may have moved.
    """
    (destination / MANIFEST).unlink(missing_ok=True)
    place_links(destination, links or {})
    _write_texts(destination, texts)
    return _finish(destination, manifest)


def _fill(
    directory: Path,
    stored: Sequence[StoredStage],
    texts: Mapping[str, bytes],
    links: Links,
) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / MANIFEST).unlink(missing_ok=True)
    remove_leftovers(directory)
    (directory / LOGS).mkdir(exist_ok=True)
    place_links(directory, links)
    for stage in stored:
        record = stage.record
        if record.folder:
            _no_link(directory / record.folder)
            place_folder(stage.output, directory / record.folder, record.outputs)
        if stage.log.is_file():
            replace_text(
                directory / LOGS / f"{record.name}.log", stage.log.read_bytes()
            )
    _write_texts(directory, texts)


def _no_link(folder: Path) -> None:
    """Files that were placed in a link would end up in a user's checkpoint."""
    if folder.is_symlink():
        folder.unlink()


def _write_texts(directory: Path, texts: Mapping[str, bytes]) -> None:
    for name, content in texts.items():
        replace_text(directory / name, content)
    for name in OPTIONAL_TEXTS:
        if name not in texts:
            (directory / name).unlink(missing_ok=True)


def _finish(directory: Path, manifest: Manifest) -> Manifest:
    replace_text(directory / MANIFEST, manifest.to_json().encode())
    return manifest
