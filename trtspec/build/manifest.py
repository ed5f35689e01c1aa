"""What an artifact says of itself: where it came from and what is in it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

MANIFEST_SCHEMA: Literal["trtspec/artifact/v1"] = "trtspec/artifact/v1"

Digest = str


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceRecord(_Entry):
    """A checkpoint that the artifact was built from."""

    model: str = Field(description="The reference, as the recipe has it.")
    kind: str = Field(description="directory, hub or demo.")
    revision: str | None = Field(description="The revision that the recipe asks for.")
    checkpoint: str = Field(
        default="model", description="What it is: a model, or a method's drafter."
    )
    files: dict[str, Digest] = Field(description="sha256 of each file that decides.")


class StageRecord(_Entry):
    """One stage: what decided its output, and the output's hashes."""

    name: str = Field(description="The stage.")
    key: str = Field(description="sha256 of all that decides its output.")
    inputs: dict[str, str] = Field(description="What decides its output.")
    outputs: dict[str, Digest] = Field(description="sha256 of each file it made.")
    folder: str = Field(default="", description="The artifact's folder that shows it.")
    duration_s: float = Field(description="Seconds that it took when it was run.")
    reused: bool = Field(description="Whether this artifact took an earlier run's.")


class Manifest(_Entry):
    """The content of manifest.json."""

    schema_: Literal["trtspec/artifact/v1"] = Field(alias="schema", description="Form.")
    name: str = Field(description="The recipe's name.")
    fingerprint: str = Field(description="sha256 of all that decides what it does.")
    recipe: dict[str, object] = Field(description="The resolved recipe.")
    source: dict[str, SourceRecord] = Field(description="By role: target, draft.")
    links: dict[str, str] = Field(
        default={},
        description="Folders that are links to a checkpoint, with its role.",
    )
    versions: dict[str, str] = Field(description="What it was built with.")
    ignored: tuple[str, ...] = Field(
        default=(), description="Rules in spite of whose findings it was built."
    )
    stages: tuple[StageRecord, ...] = Field(description="In the order of the build.")
    created: str = Field(description="UTC time at which it became complete.")

    @property
    def files(self) -> dict[str, Digest]:
        """The artifact's files and their sha256, by path inside the artifact."""
        return {
            file if stage.folder == "." else f"{stage.folder}/{file}": digest
            for stage in self.stages
            if stage.folder
            for file, digest in stage.outputs.items()
        }

    @property
    def folders(self) -> frozenset[str]:
        """The artifact's folders that stages made, or that are links."""
        return frozenset({s.folder for s in self.stages} | self.links.keys())

    def to_json(self) -> str:
        """Write the manifest as the text of manifest.json."""
        return self.model_dump_json(by_alias=True, indent=2) + "\n"
