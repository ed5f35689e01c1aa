"""Which features go together with which speculation method, by version.

The data is ``combinations.json``. What no entry says is not established: never that it
works.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from packaging.version import Version
from pydantic import BaseModel, ConfigDict, field_validator

from trtspec.trtllm.facts.read import document, entries
from trtspec.trtllm.facts.records import Fact
from trtspec.trtllm.versions import contains

FILE = "combinations.json"
State = Literal["works", "refused", "ignored", "untested", "broken", "not established"]
"""refused: upstream ends with an error, or says that it has no such thing; ignored: it
is switched off; untested: upstream says so, or reports disagree; broken: it was
reported to fail."""
Engine = Literal["tensorrt", "pytorch"]
Shape = Literal["", "one model", "two models", "outside"]
"""Where the drafter of backend pytorch runs; empty on backend tensorrt."""

OUTSIDE = ("ngram", "user", "auto")
"""Methods whose drafts come from outside of any engine, in every release."""
ONE_MODEL_ONLY = ">=1.3.0.dev0"
"""Versions that run every drafter in the target's engine."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Feature(BaseModel):
    """Something that a recipe may ask for beside speculation.

    :ivar title: the same in words that a sentence can have.
    :ivar backends: those on which it can be asked for.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    title: str
    backends: tuple[Engine, ...]

    _lists = field_validator("backends", mode="before")(_as_tuple)


class Combination(Fact):
    """What becomes of a feature next to speculation; empty conditions hold for all.

    :ivar methods: names of speculation methods.
    :ivar shapes: where the drafter runs.
    :ivar tree: whether a draft tree is drafted; None for either.
    :ivar values: of the feature, such as a quantization.
    :ivar least: smallest number of the feature that it holds for.
    :ivar most: the largest.
    :ivar also: another feature that is asked for at the same time; such an entry stands
        beside the others, not in their place.
    :ivar says: what happens.
    :ivar wrong_text: whether what was reported is output that is not the target's own.
    :ivar fixed_in: what ends it, as far as that is known.
    :ivar instead: what to do.
    :ivar snippet: the recipe's lines that do it; empty if more has to be decided.
    :ivar told_by: the rule that says the same where the release's configuration is
        written; empty if none does.
    """

    backend: Engine
    feature: str
    state: State
    methods: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    tree: bool | None = None
    values: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    also: str = ""
    says: str = ""
    wrong_text: bool = False
    fixed_in: str = ""
    instead: str = ""
    snippet: str = ""
    told_by: str = ""

    _lists = field_validator("methods", "shapes", "values", mode="before")(_as_tuple)

    def holds_for(self, case: Case) -> bool:
        """Whether it is about a case."""
        return (
            self.backend == case.backend
            and (not self.methods or case.method in self.methods)
            and (not self.shapes or case.shape in self.shapes)
            and self.tree in (None, case.tree)
            and self.also in ("", *case.also)
            and contains(self.versions, case.version)
        )

    def takes(self, value: int | str | None) -> bool:
        """Whether it is about a value of the feature."""
        if self.values and value not in self.values:
            return False
        if self.least is None and self.most is None:
            return True
        if not isinstance(value, int):
            return False
        least, most = self.least, self.most
        return (least is None or value >= least) and (most is None or value <= most)


@dataclass(frozen=True, slots=True)
class Case:
    """A speculation method as it runs in one version.

    :param tree: whether it drafts a tree.
    :param also: everything else that is asked for, by name.
    """

    backend: Engine
    version: Version
    method: str
    shape: Shape = ""
    tree: bool = False
    also: Collection[str] = field(default=())


@cache
def features() -> dict[str, Feature]:
    """Every feature by its name, in the order of the table."""
    listed = (Feature.model_validate(each) for each in document(FILE)["features"])
    return {feature.name: feature for feature in listed}


@cache
def all_combinations() -> tuple[Combination, ...]:
    """Everything known, in whatever version; the first entry that holds counts."""
    return entries(document(FILE)["combinations"], Combination)


def combinations(
    case: Case, feature: str, value: int | str | None = None
) -> Iterator[Combination]:
    """Give what is known of a feature in a case; nothing if nothing is established.

    The first entry about the feature alone, and those about it with something else.

    :param value: the feature's, where entries depend on it.
    """
    alone = False
    for entry in all_combinations():
        if entry.feature != feature or not entry.takes(value):
            continue
        if not entry.holds_for(case) or (alone and not entry.also):
            continue
        alone = alone or not entry.also
        yield entry


def state_of(case: Case, feature: str, value: int | str | None = None) -> State:
    """What a feature is in a case, in one word."""
    found = (each for each in combinations(case, feature, value) if not each.also)
    entry = next(found, None)
    return entry.state if entry else "not established"
