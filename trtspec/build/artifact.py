"""Which artifact a directory is, and whether it is complete and undamaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from trtspec.build.hashes import differing_files
from trtspec.build.manifest import MANIFEST_SCHEMA, Manifest
from trtspec.errors import RunError, UsageError
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
    def open(cls, path: Path) -> Artifact:
        """Read an artifact and compare its files with what the manifest recorded.

        :raises UsageError: if the directory is no artifact.
        :raises RunError: if a file is missing or was changed.
        """
        manifest = read_manifest(path)
        if damaged := damaged_files(path, manifest):
            more = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
            raise RunError(
                f"the artifact is damaged: {damaged[0]}{more}",
                where=str(path),
                action=_BUILD_AGAIN,
            )
        return cls(path, manifest, load_recipe(path / RECIPE).recipe)

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
        has_draft = any(stage.folder == DRAFT for stage in self.manifest.stages)
        return self.path / DRAFT if has_draft else None

    @property
    def tokenizer(self) -> Path:
        """The folder of tokenizer and configuration: the target's own, or beside it."""
        beside = any(stage.folder == TOKENIZER for stage in self.manifest.stages)
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
    loaded.
    """
    damaged = differing_files(path, manifest.files)
    for folder in sorted({s.folder for s in manifest.stages} - {"", "."}):
        for file in sorted((path / folder).rglob("*")):
            name = file.relative_to(path).as_posix()
            if file.is_file() and name not in manifest.files:
                damaged.append(f"{name} was added")
    return damaged
