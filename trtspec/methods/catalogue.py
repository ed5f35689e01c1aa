"""Which methods there are to choose from, and where each keeps the target's output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from pydantic import TypeAdapter

from trtspec.methods import Method, Speculation
from trtspec.methods.pytorch_rules import FAMILIES

_UNION: tuple[type[Method], ...] = get_args(get_args(Speculation)[0])
_ADAPTER: TypeAdapter[Method] = TypeAdapter(Speculation)

METHODS: dict[str, type[Method]] = {
    get_args(kind.model_fields["method"].annotation)[0]: kind for kind in _UNION
}
"""Every method by its name, in the order of the recipe's schema."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a method may run.

    :param family: family of releases of backend pytorch; empty for the others.
    :param versions: its versions as a PEP 440 specifier; empty is all that there are.
    """

    backend: str
    family: str = ""
    versions: str = ""


PLACES = (
    Place("reference"),
    Place("tensorrt"),
    *(Place("pytorch", family, versions) for family, versions in FAMILIES.items()),
)
"""All of them, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a method does to the output in one place.

    :param runs: whether it runs there; if not, nothing else is said.
    :param greedy: why greedy output is not the target's own; empty if it is.
    :param sampled: the same for output at temperature above 0.
    :param source: where that is known from.
    """

    place: Place
    runs: bool
    greedy: str = ""
    sampled: str = ""
    source: str = ""

    @property
    def word(self) -> str:
        """What of the output is exact: exact, greedy, lossy, or - where it is not run.

        One word for both kinds of request; nothing is exact when sampled alone.
        """
        if not self.runs:
            return "-"
        if self.greedy:
            return "lossy"
        return "greedy" if self.sampled else "exact"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why not all output is the target's own; empty if it is."""
        return tuple(dict.fromkeys(filter(None, (self.greedy, self.sampled))))


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to set a method.

    :param keys: of its ``speculation`` section.
    :param label: what sets it apart, as in a recipe; empty for the fewest keys.
    """

    keys: Mapping[str, object]
    label: str
    method: Method


def settings(name: str) -> tuple[Setting, ...]:
    """Give the settings of a method, the one with the fewest keys first."""
    fewest, *others = METHODS[name].settings
    first = {"method": name, **fewest}
    made = [Setting(first, "", _ADAPTER.validate_python(first))]
    for extra in others:
        keys = first | dict(extra)
        label = _label(*next(iter(extra.items())))
        made.append(Setting(keys, label, _ADAPTER.validate_python(keys)))
    return tuple(made)


def _label(key: str, value: object) -> str:
    return f"{key}: {'paths' if isinstance(value, list) else in_recipe(value)}"


def in_recipe(value: object) -> str:
    """Write a plain value as a recipe has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def standings(method: Method) -> tuple[Standing, ...]:
    """Say of every place what the method does to the output there."""
    return tuple(_standing(method, place) for place in PLACES)


@dataclass(frozen=True, slots=True)
class Row:
    """What one setting of a method does to the output in every place.

    :param label: the setting's; empty for the method itself.
    """

    name: str
    label: str
    standings: tuple[Standing, ...]

    @property
    def words(self) -> list[str]:
        """One word per place."""
        return [standing.word for standing in self.standings]


def matrix() -> Iterator[Row]:
    """Give a row per method, then those of its settings that differ from it."""
    for name in METHODS:
        fewest, *others = (
            Row(name, setting.label, standings(setting.method))
            for setting in settings(name)
        )
        yield fewest
        yield from (row for row in others if row.words != fewest.words)


def _standing(method: Method, place: Place) -> Standing:
    for entry in method.exactness():
        if entry.backend not in ("*", place.backend):
            continue
        if entry.versions in ("", place.versions):
            return Standing(place, True, entry.greedy, entry.sampled, entry.source)
    return Standing(place, runs=False)
