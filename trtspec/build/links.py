"""How an artifact's links to checkpoints are made, and whether they still lead there.

A checkpoint that needs no change is not copied: a folder of the artifact is a link to
it, and the manifest has its hashes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from trtspec.build.hashes import checkpoint_hashes, differing_files
from trtspec.build.manifest import Manifest
from trtspec.build.sources import Source
from trtspec.methods.base import DrafterKind


@dataclass(frozen=True, slots=True)
class Link:
    """Where a folder of an artifact leads.

    :param to: a checkpoint's directory, absolute; or a place in the artifact, relative
        to the link.
    :param files: the checkpoint's files and their sha256.
    :param kind: what the checkpoint is.
    """

    to: Path
    files: Mapping[str, str] = field(default_factory=dict)
    kind: DrafterKind = "model"


Links = Mapping[str, Link]
"""By folder of an artifact."""


def links_of(sources: Mapping[str, Source]) -> dict[str, Link]:
    """Say where the links of an artifact lead; what is not here yet is left out."""
    return {
        folder: Link(source.directory.resolve(), source.files or {}, source.kind)
        for folder, source in sources.items()
        if source.directory is not None
    }


def place_links(directory: Path, links: Links) -> None:
    """Make the links, each in one step; one that leads elsewhere is replaced.

    A folder with the same files, as a copy that followed the links has, is left.
    """
    for folder, link in links.items():
        place = directory / folder
        if _holds(place, link):
            continue
        place.parent.mkdir(exist_ok=True)
        temporary = place.with_name(f".{place.name}.{os.getpid()}.tmp")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(link.to, target_is_directory=True)
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        temporary.replace(place)


def lead_there(directory: Path, links: Links) -> bool:
    """Whether all links of an artifact lead where they should, or are true copies."""
    return all(_holds(directory / folder, link) for folder, link in links.items())


def _holds(place: Path, link: Link) -> bool:
    if place.is_symlink():
        return Path(os.readlink(place)) == link.to
    is_known = bool(link.files) and place.is_dir()
    return is_known and not _faults(place, link.files, link.kind)


def _faults(place: Path, files: Mapping[str, str], kind: DrafterKind) -> list[str]:
    """Name files of a checkpoint that are missing, changed or were added."""
    added = checkpoint_hashes(place, kind).keys() - files.keys()
    return [
        *differing_files(place, files, kind),
        *(f"{name} was added" for name in sorted(added)),
    ]


def differing_links(path: Path, manifest: Manifest) -> list[str]:
    """Name files of linked checkpoints that are missing, changed or were added.

    :param path: the artifact's directory.
    """
    damaged: list[str] = []
    for folder, role in sorted(manifest.links.items()):
        source = manifest.source[role]
        kind = cast(DrafterKind, source.checkpoint)
        place = path / folder
        if not place.is_dir():
            to = os.readlink(place) if place.is_symlink() else "nowhere"
            damaged.append(f"{folder} leads to {to}, where no checkpoint is")
            continue
        faults = _faults(place, source.files, kind)
        damaged += [f"{folder}/{fault} (in {place.resolve()})" for fault in faults]
    return damaged
