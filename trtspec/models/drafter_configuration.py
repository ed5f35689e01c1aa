"""What a drafter's ``config.json`` says in numbers, with errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.config import CONFIG


@dataclass(frozen=True, slots=True)
class DrafterConfiguration:
    """The numbers in a drafter's ``config.json``."""

    directory: Path
    values: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """The file that they are in."""
        return self.directory / CONFIG

    def number(self, key: str) -> int | None:
        """Read a size; None if it is absent or null.

        :raises UsageError: if it is no whole number above 0.
        """
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        raise UsageError(
            f"{key} is {value!r}",
            where=str(self.path),
            allowed="a whole number above 0",
        )

    def required(self, key: str) -> int:
        """Read a size that must be there.

        :raises UsageError: if it is not, or is no whole number above 0.
        """
        if (value := self.number(key)) is not None:
            return value
        raise UsageError(
            f"has no {key}",
            where=str(self.path),
            allowed="a whole number above 0",
            action="give the configuration the drafter was trained with",
        )

    def section(self, key: str) -> Mapping[str, Any]:
        """Give a map inside; an empty one if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, dict) else {}

    def layer_ids(self, key: str, *sections: str) -> tuple[int, ...] | None:
        """Read a list of layers, from the first section that has one, or from the top.

        :raises UsageError: if it is no list of whole numbers.
        """
        for part in (*map(self.section, sections), self.values):
            if (value := part.get(key)) is not None:
                return self._whole_numbers(key, value)
        return None

    def lacks(self, part: str, example: str) -> UsageError:
        """Say that a part which is loaded is not among the weights."""
        return UsageError(
            f"the weights hold no {part}: no tensor {example}",
            where=str(self.directory),
            action="give the checkpoint as it was published",
        )

    def misshapen(
        self, name: str, shape: tuple[int, ...], allowed: tuple[int | None, ...]
    ) -> UsageError:
        """Say that a tensor does not have the shape that the others ask for.

        :param allowed: None where another tensor that tells the size has none.
        """
        sizes = ", ".join("?" if size is None else str(size) for size in allowed)
        return UsageError(
            f"the tensor {name} is {list(shape)}",
            where=str(self.directory),
            allowed=f"[{sizes}], as the other tensors have it",
            action="give the checkpoint as it was published",
        )

    def contradicts(self, what: str, allowed: str) -> UsageError:
        """Say that two of the checkpoint's figures cannot both be right."""
        return UsageError(
            what,
            where=str(self.path),
            allowed=allowed,
            action="fetch configuration and weights again, from one revision",
        )

    def _whole_numbers(self, key: str, value: object) -> tuple[int, ...]:
        if isinstance(value, list) and all(type(item) is int for item in value):
            return tuple(value)
        raise UsageError(
            f"{key} is {value!r}",
            where=str(self.path),
            allowed="a list of whole numbers",
        )
