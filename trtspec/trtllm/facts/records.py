"""What one fact about TensorRT-LLM consists of."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from trtspec.trtllm.facts.types import class_in, parse_type
from trtspec.trtllm.facts.value_faults import limit_fault, type_fault
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
    aliases_versions: str = ""
    """Versions that know the aliases; those of the flag itself if empty."""

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


class Key(Fact):
    """A key of the LLM API's YAML, or of a map inside it.

    A default of None means null, or one that is not established; the note says which.

    :ivar type: in the grammar of ``trtspec.trtllm.facts.types``.
    :ivar alias: another name that the same key is accepted under.
    :ivar deprecated: PEP 440 specifier: versions that know the key and want it gone.
    :ivar least: the smallest number that is allowed, in a list as well.
    :ivar most: the largest number that is allowed.
    :ivar above: what a number has to exceed.
    :ivar constraint: what else a value must fulfil, in words.
    """

    name: str
    type: str
    default: Value = None
    required: bool = False
    alias: str = ""
    deprecated: str = ""
    least: int | float | None = None
    most: int | float | None = None
    above: int | float | None = None
    constraint: str = ""

    @field_validator("deprecated")
    @classmethod
    def _is_range_or_empty(cls, value: str) -> str:
        if value and not is_specifier(value):
            raise ValueError(f"{value!r} is not a range of versions")
        return value

    @model_validator(mode="after")
    def _is_consistent(self) -> Key:
        parse_type(self.type)
        fault = "" if self.default is None else type_fault(self.type, self.default)
        if fault:
            raise ValueError(f"{self.name}: its default {fault}")
        return self

    @property
    def section(self) -> str:
        """The class of the map under it; empty if it holds none that is described."""
        return class_in(self.type)

    def accepts(self, value: object) -> str:
        """Say why it does not take a value, as YAML gives it; empty if it does.

        What is inside a map of a described class is not looked at.

        :returns: a predicate that follows the key's name, or "it": "is '8', which is
            not a whole number", "holds -1, which is below 0".
        """
        wrong = type_fault(self.type, value)
        return wrong or limit_fault(value, self.least, self.most, self.above)


class Named(Fact):
    """A name that something goes by in a range of versions."""

    name: str


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
