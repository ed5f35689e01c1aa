"""What do the executor's configuration classes take in a version?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from packaging.version import Version

from tests.standins.executor import values
from tests.standins.executor.types import default_of, matches
from tests.standins.executor.words import WORDS
from trtspec.trtllm import facts

POSITIONAL = {"Request": 2, "KvCacheConfig": 10}
"""How many arguments may be given by position, where not all."""
READ_ONLY = {"EagleConfig", "ExternalDraftTokensConfig", "LookaheadDecodingConfig"}
ANSWERS = {"Response", "Result", "RequestPerfMetrics", "SpeculativeDecodingMetrics"}
"""Classes that are only read."""


class Configuration:
    """Base of all of them: arguments of this version only, each of its type."""

    _described: dict[str, facts.Field]
    _classes: dict[str, type]
    _attributes: frozenset[str] = frozenset()
    _ready = False

    def __init__(self, *arguments: Any, **named: Any) -> None:
        values_by_name = self._bind(arguments, named)
        for name, field in self._described.items():
            given = name in values_by_name
            if not given and field.required:
                raise self._refusal(f"{name} is missing")
            default = None if given else default_of(field, self._classes)
            self._set(name, values_by_name.get(name, default), check=given)
        values.CHECKS.get(type(self).__name__, values.nothing)(self)
        object.__setattr__(self, "_ready", True)

    def _bind(
        self, arguments: tuple[Any, ...], named: dict[str, Any]
    ) -> dict[str, Any]:
        name = type(self).__name__
        allowed = list(self._described)[: POSITIONAL.get(name)]
        if len(arguments) > len(allowed):
            raise self._refusal(f"{len(arguments)} arguments by position")
        bound = dict(zip(allowed, arguments, strict=False))
        if unknown := sorted(set(named) - set(self._described)):
            raise self._refusal(f"no argument is called {unknown[0]}")
        if twice := sorted(set(bound) & set(named)):
            raise self._refusal(f"{twice[0]} is given twice")
        return {**bound, **named}

    def _refusal(self, what: str) -> TypeError:
        return TypeError(
            f"{type(self).__name__}.__init__(): incompatible constructor arguments "
            f"({what}). The following argument types are supported: "
            f"{', '.join(f'{f.name}: {f.type}' for f in self._described.values())}"
        )

    def _set(self, name: str, value: Any, *, check: bool) -> None:
        field = self._described[name]
        if check and not matches(field.type, value, self._classes):
            raise self._refusal(f"{name} is {value!r}")
        object.__setattr__(
            self, name, list(value) if isinstance(value, tuple) else value
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._attributes:
            object.__setattr__(self, name, value)
            return
        kind = type(self).__name__
        if name not in self._described or (self._ready and kind in READ_ONLY):
            raise AttributeError(f"can't set attribute {name!r} of {kind}")
        if kind == "DecodingConfig":
            values.before_assignment(self, name, value)
        self._set(name, value, check=True)
        values.CHECKS.get(kind, values.nothing)(self)


def make_classes(version: Version) -> dict[str, type]:
    """All configuration classes of a version, by name."""
    classes: dict[str, type] = dict(WORDS)
    for name in facts.class_names():
        described = facts.fields(name, version)
        if described and name not in ANSWERS:
            methods = METHODS.get(name, {})
            content = {"_described": described, "_classes": classes, **methods}
            content["_attributes"] = frozenset(facts.attributes(name, version))
            classes[name] = type(name, (Configuration,), content)
    return {name: kind for name, kind in classes.items() if name not in WORDS}


def _resource(self: Any) -> tuple[int, int, int, int]:
    return values.speculative_resource(
        self.max_window_size, self.max_ngram_size, self.max_verification_set_size
    )


METHODS: dict[str, dict[str, Callable[..., Any] | staticmethod]] = {
    "LookaheadDecodingConfig": {
        "calculate_speculative_resource": _resource,
        "calculate_speculative_resource_tuple": staticmethod(
            values.speculative_resource
        ),
    }
}
