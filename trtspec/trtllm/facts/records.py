"""What one fact about TensorRT-LLM consists of."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from trtspec.trtllm.versions import is_specifier

Value = bool | int | float | str | None
Kind = Literal["str", "int", "float", "switch", "choice", "list"]
Phase = Literal["convert", "quantize", "build", "run"]


class Fact(BaseModel):
    """Something that is established for a range of versions, with its source."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    versions: str
    """PEP 440 specifier: the versions for which it is established."""
    source: str
    """Document, source path or issue that establishes it."""
    note: str = ""

    @field_validator("versions")
    @classmethod
    def _is_range(cls, value: str) -> str:
        if not is_specifier(value):
            raise ValueError(f"{value!r} is not a range of versions")
        return value

    @field_validator("source")
    @classmethod
    def _is_named(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("a fact needs a source")
        return value


class Flag(Fact):
    """A command-line flag of ``trtllm-build`` or of an example script.

    A default of None means none, or one that is not established; the note says which.
    """

    flag: str
    kind: Kind
    choices: tuple[str, ...] | None = None
    default: Value = None
    required: bool = False
    aliases: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Flag:
        if (self.kind == "choice") != (self.choices is not None):
            raise ValueError(f"{self.flag}: a choice, and only a choice, lists values")
        chosen = self.choices is None or self.default is None
        if not chosen and self.default not in (self.choices or ()):
            raise ValueError(f"{self.flag}: {self.default!r} is not among its choices")
        return self


class ScriptPath(Fact):
    """Where an example script lies, relative to the examples folder."""

    path: str


class Field(Fact):
    """A constructor argument, or a readable attribute, of an executor class."""

    name: str
    type: str
    default: Value = None
    required: bool = False


class Limit(Fact):
    """The largest value of a sampling parameter that the runtime does not change."""

    name: str
    most: int


class KnownFailure(Fact):
    """A message that a tool or the runtime prints, and what it means.

    :ivar pattern: regular expression to search a log line with.
    :ivar stages: where it occurs.
    :ivar example: a line that it occurs in.
    """

    name: str
    pattern: str
    stages: tuple[Phase, ...]
    meaning: str
    action: str
    example: str

    @model_validator(mode="after")
    def _finds_its_example(self) -> KnownFailure:
        if not re.search(self.pattern, self.example):
            raise ValueError(f"{self.name}: the pattern does not find its example")
        return self


class Architecture(Fact):
    """What the config.json of a checkpoint or engine says for one method.

    :ivar architectures: names that may stand under ``architecture``; empty if the
        target model's own name is kept.
    :ivar keys: keys of ``pretrained_config`` that the method adds.
    :ivar mode: command-line name of its speculative decoding mode.
    """

    method: str
    architectures: tuple[str, ...]
    keys: tuple[str, ...]
    mode: str


class Targets(Fact):
    """Model families (``model_type`` in config.json) that a method accepts."""

    method: str
    families: frozenset[str]

    @field_validator("families", mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return frozenset(value) if isinstance(value, list) else value


class Constraint(Fact):
    """A documented limit.

    :ivar methods: the methods that it binds; empty if all.
    :ivar fragment: piece of the message shown when it is broken; may be empty.
    :ivar number: the number in the rule, where code goes by it.
    """

    name: str
    methods: tuple[str, ...]
    rule: str
    fragment: str = ""
    number: int | None = None


class Removal(BaseModel):
    """When the engine backend ended."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    last: str
    first_without: str
    what: str
    source: str


class TensorRT(Fact):
    """The TensorRT version that a range of TensorRT-LLM versions is built on."""

    tensorrt: str


class Release(BaseModel):
    """A published version that has the engine backend."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    version: str
    source: str
