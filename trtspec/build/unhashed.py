"""How much of an artifact's checkpoints is to be read before it can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

from trtspec.build.manifest import Manifest
from trtspec.build.progress import Progress
from trtspec.build.space import human_bytes
from trtspec.errors import TrtspecError
from trtspec.files import cache_dir
from trtspec.methods.base import DrafterKind
from trtspec.models.drafter_files import Loader
from trtspec.models.files import checkpoint_files
from trtspec.models.identity import file_hashes


def tell_of_hashing(path: Path, manifest: Manifest, progress: Progress) -> None:
    """Say that checkpoints are about to be hashed, where that takes long.

    Hashes are kept in the cache. A container that does not keep it reads hundreds of
    gigabytes at every start.
    """
    large = list(_unhashed(path, manifest))
    if large:
        size = human_bytes(sum(large))
        progress.line(
            hashing_line(f"comparing {size} of checkpoints with the manifest")
        )


def hashing_line(doing: str) -> str:
    """Give the line that tells of a long wait, and how it is the only one.

    :param doing: what is done, such as "hashing 700 GB".
    """
    return (
        f"{doing}, which takes minutes; the hashes are kept in {cache_dir()} "
        "($TRTSPEC_CACHE): keep it, and they are not read again"
    )


def checkpoint_bytes(
    directory: Path, kind: DrafterKind, loader: Loader = "tensorrt_llm"
) -> int:
    """Give the size in bytes of all files that decide what a checkpoint does."""
    files = checkpoint_files(directory, kind, loader)
    return sum(file.stat().st_size for file in files)


def _unhashed(path: Path, manifest: Manifest) -> Iterator[int]:
    """Give the bytes of each checkpoint that is large and not in the cache."""
    made = {stage.folder for stage in manifest.stages} - {"", "."}
    kinds: dict[str, DrafterKind] = dict.fromkeys(made, "model")
    for folder, role in manifest.links.items():
        kinds[folder] = cast(DrafterKind, manifest.source[role].checkpoint)
    for folder, kind in kinds.items():
        # a folder that is no checkpoint is small
        with suppress(OSError, TrtspecError):
            place = path / folder
            if file_hashes(place, kind, cached_only=True) is None:
                yield checkpoint_bytes(place, kind)
