"""Which texts quantize.py calibrates with, where they are a folder on this machine."""

from __future__ import annotations

from pathlib import Path

from trtspec.files import sha256_file, sha256_json
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.sizes import options

_QUICK_BYTES = 1 << 30
"""What is larger is told apart by sizes and times instead of being read."""


def local_dataset(recipe: Recipe, base: Path | None) -> Path | None:
    """Give the folder that the recipe names, absolute; None if it is none here.

    A dataset of the hub is named like a folder: what is not here is taken for one.

    :param base: directory that the recipe's paths start from.
    """
    named = options(recipe).calibration_dataset
    if not named:
        return None
    folder = (base or Path()) / Path(named).expanduser()
    return folder.absolute() if folder.is_dir() else None


def names_a_path(dataset: str) -> bool:
    """Whether a dataset is named as only a folder can be."""
    return dataset.startswith((".", "/", "~"))


def content_digest(folder: Path) -> str:
    """Hash what is in a dataset's folder: names, sizes, and content up to 1 GiB."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sizes = {path: path.stat().st_size for path in files}
    is_quick = sum(sizes.values()) <= _QUICK_BYTES
    return sha256_json(
        [
            [
                path.relative_to(folder).as_posix(),
                sizes[path],
                sha256_file(path) if is_quick else path.stat().st_mtime_ns,
            ]
            for path in files
        ]
    )
