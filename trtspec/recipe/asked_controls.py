"""Which request fields the lines of a prompts file carry, besides the prompt itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from trtspec.recipe.text import open_file

MOST_LINES = 20_000
"""Lines that are read at most; what they ask for is what the rest asks for too."""
_MOST_BYTES = 256 << 20
_MOST_VALUES = 3
_NESTED = ("extra_body", "sampling_params", "parameters")
"""Objects in which clients keep further fields."""

SAMPLING = ("temperature", "top_p", "top_k")
"""Fields that a recipe has too, so that even a neutral value may differ from it."""
_ALL_TOKENS = -1
"""What some clients write for a ``top_k`` that keeps all; in a recipe it is 0."""

NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "n": (1,),
    "best_of": (1,),
    "temperature": (0,),
    "top_p": (1,),
    "top_k": (0, -1),
    "min_p": (0,),
    "min_tokens": (0,),
    "repetition_penalty": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "no_repeat_ngram_size": (0,),
    "length_penalty": (1,),
    "logprobs": (False,),
    "stream": (False,),
    "use_beam_search": (False,),
    "ignore_eos": (False,),
    "return_context_logits": (False,),
    "return_generation_logits": (False,),
    "response_format": ({"type": "text"},),
    "top_logprobs": (0,),
}
"""Values that ask for nothing of an engine, or for what happens anyway.

Whether they are what the recipe measures with is another question: ``asked_sampling``.
"""
_EMPTY: tuple[object, ...] = (None, "", [], {})


@dataclass(slots=True)
class AskedControl:
    """One field, in all lines that have it.

    :param line: of the first request with it.
    :param count: requests with it.
    :param values: the first few different ones, as they are written.
    """

    name: str
    line: int
    count: int = 0
    values: list[object] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The values for a message."""
        texts = [json.dumps(value)[:40] for value in self.values[:_MOST_VALUES]]
        more = ", ..." if len(self.values) > _MOST_VALUES else ""
        return ", ".join(texts) + more

    def add(self, value: object) -> None:
        """Count one more request."""
        self.count += 1
        if len(self.values) <= _MOST_VALUES and value not in self.values:
            self.values.append(value)


class _Asked(NamedTuple):
    """What one file asks for, by field."""

    controls: dict[str, AskedControl]
    sampling: dict[str, AskedControl]


def asked_controls(path: Path) -> dict[str, AskedControl]:
    """Read what requests ask for, by field, in the order of their first use.

    Fields with a neutral value do not count. Lines that are no JSON object are passed
    over: whether the file can be used at all is not asked here. No more than the first
    ``MOST_LINES`` lines are read, one at a time.

    :returns: not to be changed: who asks again for the same file gets the same.
    :raises OSError: if the file cannot be read.
    """
    return _of(path).controls


def asked_sampling(path: Path) -> dict[str, AskedControl]:
    """Read how requests sample, by the fields of ``SAMPLING``, neutral values included.

    A line that says ``temperature: 0`` asks for nothing special, but it is not what a
    recipe at 0.7 measures. A ``top_k`` of -1 is given as the recipe writes it: 0.

    :returns: as ``asked_controls`` does.
    :raises OSError: if the file cannot be read.
    """
    return _of(path).sampling


def _of(path: Path) -> _Asked:
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, changed: int, size: int) -> _Asked:
    """Read a file once for all rules, in the state that these figures stand for."""
    found = _Asked({}, {})
    with open_file(path) as stream:
        left = _MOST_BYTES
        for line in range(1, MOST_LINES + 1):
            data = stream.readline(left)
            left -= len(data)
            if not data or left <= 0:
                break
            for name, value in _fields(data):
                if not _asks_nothing(name, value):
                    _keep(found.controls, name, line, value)
                if name in SAMPLING and not _is_empty(value):
                    _keep(found.sampling, name, line, _as_in_a_recipe(name, value))
    return found


def _keep(found: dict[str, AskedControl], name: str, line: int, value: object) -> None:
    found.setdefault(name, AskedControl(name, line)).add(value)


def _as_in_a_recipe(name: str, value: object) -> object:
    return 0 if name == "top_k" and _same(value, _ALL_TOKENS) else value


def _fields(data: bytes) -> Iterator[tuple[str, object]]:
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(entry, dict):
        flat = {k: v for k, v in entry.items() if k not in _NESTED}
        for name in _NESTED:
            inner = entry.get(name)
            flat |= inner if isinstance(inner, dict) else {}
        yield from flat.items()


def _asks_nothing(name: str, value: object) -> bool:
    return _is_empty(value) or any(
        _same(value, neutral) for neutral in NEUTRAL.get(name, ())
    )


def _is_empty(value: object) -> bool:
    return any(value == empty and type(value) is type(empty) for empty in _EMPTY)


def _same(value: object, neutral: object) -> bool:
    """Compare; True and 1, False and 0 are different things to a request."""
    return value == neutral and isinstance(value, bool) == isinstance(neutral, bool)
