"""What a configuration of the LLM API is made of: keys, values, why each is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from packaging.version import Version

Scalar = bool | int | float | str | None
Leaf = Scalar | tuple[Scalar, ...] | Mapping[int, int]
"""A value that is written on one line."""
Path = tuple[str, ...]
"""Keys that lead to a setting, such as ("speculative_config", "max_draft_len")."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the YAML.

    :param value: a leaf, or the settings of the map under the key.
    :param why: one line for the reader; empty only for a map.
    """

    key: str
    value: Leaf | tuple[Setting, ...]
    why: str = ""

    @property
    def children(self) -> tuple[Setting, ...]:
        """The settings under the key; none if it holds a leaf."""
        value = self.value
        if isinstance(value, tuple) and value and isinstance(value[0], Setting):
            return tuple(child for child in value if isinstance(child, Setting))
        return ()


@dataclass(frozen=True, slots=True)
class LlmArgs:
    """A whole configuration for one version of TensorRT-LLM."""

    version: Version
    settings: tuple[Setting, ...]

    def leaves(self) -> Iterator[tuple[Path, Setting]]:
        """Give every setting that holds a leaf, with the keys that lead to it."""
        yield from _leaves((), self.settings)

    def to_dict(self) -> dict[str, Any]:
        """Give the configuration as YAML holds it: dicts, lists and scalars."""
        return _to_dict(self.settings)


def _leaves(
    path: Path, settings: tuple[Setting, ...]
) -> Iterator[tuple[Path, Setting]]:
    for setting in settings:
        here = (*path, setting.key)
        if setting.children:
            yield from _leaves(here, setting.children)
        else:
            yield here, setting


def _to_dict(settings: tuple[Setting, ...]) -> dict[str, Any]:
    return {setting.key: _plain(setting) for setting in settings}


def _plain(setting: Setting) -> Any:
    if setting.children:
        return _to_dict(setting.children)
    value = setting.value
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader must know of a compiled recipe; ``check`` makes findings of them.

    :param rule: short name of the rule, such as "schedule".
    :param key: the recipe's key that it is about, such as ("speculation", "model").
    :param what: the statement, with the offending value in it.
    :param why: the reason.
    :param action: the next step, with the nearest thing that can be expressed.
    :param snippet: the recipe's lines that do it; empty if more has to be decided.
    :param source: URL, or path in TensorRT-LLM's repository, of the fact behind it.
    :param values: the values involved, by name, as JSON has them.
    """

    rule: str
    severity: Literal["blocking", "warning", "note"]
    key: tuple[str | int, ...]
    what: str
    why: str = ""
    action: str = ""
    _: KW_ONLY
    snippet: str = ""
    source: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A recipe's configuration, and what is to be said about it.

    With a blocking remark the configuration leaves out what cannot be expressed.
    """

    args: LlmArgs
    remarks: tuple[Remark, ...] = ()

    @property
    def blocked(self) -> bool:
        """Whether the configuration must not be used."""
        return any(remark.severity == "blocking" for remark in self.remarks)
