"""Which artifact a directory is, and whether it is complete and undamaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from trtspec.build.hashes import differing_files
from trtspec.build.links import differing_links
from trtspec.build.manifest import MANIFEST_SCHEMA, Manifest
from trtspec.build.progress import SILENT, Progress
from trtspec.build.unhashed import tell_of_hashing
from trtspec.errors import RecipeError, RunError, UsageError
from trtspec.recipe.load import load_recipe
from trtspec.recipe.schema import Recipe

MANIFEST = "manifest.json"
RECIPE = "recipe.yaml"
WORKLOAD = "workload.jsonl"
CHAT_TEMPLATE = "chat_template.jinja"
OPTIONAL_TEXTS = (WORKLOAD, CHAT_TEMPLATE)
"""Small files that an artifact has or has not, as its recipe says."""
TARGET = "target"
DRAFT = "draft"
TOKENIZER = "tokenizer"
LOGS = "logs"

_BUILD_AGAIN = "build it again: trtspec build RECIPE"


@dataclass(frozen=True, slots=True)
class Artifact:
    """A built directory that was found complete.

    :param recipe: its own recipe: the models and prompts it names are its own files.
    """

    path: Path
    manifest: Manifest
    recipe: Recipe

    @classmethod
    def open(cls, path: Path, progress: Progress = SILENT) -> Artifact:
        """Read an artifact and compare its files with what the manifest recorded.

        :param progress: told if that takes long, as it does once on each machine.
        :raises UsageError: if the directory is no artifact.
        :raises RunError: if a file is missing or was changed, or this version of
            trtspec cannot read its recipe.
        """
        manifest = read_manifest(path)
        tell_of_hashing(path, manifest, progress)
        if damaged := damaged_files(path, manifest):
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            raise RunError(
                f"the artifact is damaged: {damaged[0]}{more}",
                where=str(path),
                action=_BUILD_AGAIN,
            )
        return cls(path, manifest, _own_recipe(path))

    @property
    def name(self) -> str:
        """The recipe's name."""
        return self.manifest.name

    @property
    def fingerprint(self) -> str:
        """The hash of all that decides what it does; 64 hexadecimal digits."""
        return self.manifest.fingerprint

    @property
    def target(self) -> Path:
        """The folder of the target model."""
        return self.path / TARGET

    @property
    def draft(self) -> Path | None:
        """The folder of the draft model; None if the method has none."""
        return self.path / DRAFT if DRAFT in self.manifest.folders else None

    @property
    def tokenizer(self) -> Path:
        """The folder of tokenizer and configuration: the target's own, or beside it."""
        beside = TOKENIZER in self.manifest.folders
        return self.path / TOKENIZER if beside else self.target

    @property
    def workload(self) -> Path | None:
        """The file of prompts; None if the recipe has no workload."""
        return self.path / WORKLOAD if WORKLOAD in self.manifest.files else None

    @property
    def chat_template(self) -> str | None:
        """The chat template that the recipe gave; None if the model has its own."""
        if CHAT_TEMPLATE not in self.manifest.files:
            return None
        return (self.path / CHAT_TEMPLATE).read_text(encoding="utf-8")


def _own_recipe(path: Path) -> Recipe:
    """Read the recipe of an artifact whose files are what the manifest says.

    :raises RunError: if it is of another version of trtspec: no file to be corrected.
    """
    try:
        return load_recipe(path / RECIPE).recipe
    except RecipeError as error:
        first = error.problems[0]
        raise RunError(
            f"this version of trtspec cannot read the artifact's recipe: {first.what}",
            where=first.where or str(path / RECIPE),
            action=_BUILD_AGAIN,
        ) from error


def read_manifest(path: Path) -> Manifest:
    """Read an artifact's manifest; its files are not looked at.

    :raises UsageError: if there is none: the directory is no artifact.
    :raises RunError: if it cannot be understood.
    """
    file = path / MANIFEST
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(
            f"{path} is not an artifact: it holds no {MANIFEST}",
            allowed="a directory that trtspec build made, or a recipe file",
            action="if a build of it was killed, build it again",
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise RunError(
            f"{place}: {first['msg']}",
            where=str(file),
            allowed=f"a manifest of the form {MANIFEST_SCHEMA}",
            action=_BUILD_AGAIN,
        ) from None


def damaged_files(path: Path, manifest: Manifest) -> list[str]:
    """Name files that are missing or changed, each with what is wrong.

    A file that was added to a model's folder counts too: it could change what is
    loaded. So does one in a checkpoint that the artifact links to.
    """
    damaged = differing_files(path, manifest.files)
    damaged += differing_links(path, manifest)
    for folder in sorted({s.folder for s in manifest.stages} - {"", "."}):
        for file in sorted((path / folder).rglob("*")):
            name = file.relative_to(path).as_posix()
            if file.is_file() and name not in manifest.files:
                damaged.append(f"{name} was added")
    return damaged
