"""Who builds and loads what is to be measured on a recipe's own backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple, Protocol

from trtspec.build.artifact import Artifact
from trtspec.recipe.schema import Recipe
from trtspec.run import Runner


class Opened(NamedTuple):
    """An artifact, loaded."""

    artifact: Artifact
    runner: Runner


class Shop(Protocol):
    """Builds artifacts of one recipe with other speculation, and loads them."""

    def open(self, recipe: Recipe) -> AbstractContextManager[Opened]:
        """Build an artifact, as far as it is not there, and load it until the end.

        :raises FindingsError: if the backend cannot have it.
        """
        ...

    def require_possible(self, recipe: Recipe) -> None:
        """Check a recipe without building it.

        :raises FindingsError: if the backend cannot have it.
        """
        ...


class Counting:
    """A shop that counts what is loaded; see ``Shop``."""

    def __init__(self, shop: Shop, started: Callable[[], None]) -> None:
        self._shop, self._started = shop, started

    @contextmanager
    def open(self, recipe: Recipe) -> Iterator[Opened]:
        """Load an artifact, and count it."""
        with self._shop.open(recipe) as opened:
            self._started()
            yield opened

    def require_possible(self, recipe: Recipe) -> None:
        """Check a recipe without building it."""
        self._shop.require_possible(recipe)
