"""What is there of a checkpoint's weights, and how readers' refusals are collected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from trtspec.errors import Problem, UsageError
from trtspec.models.info import Format
from trtspec.models.tensor_header import TensorHeader
from trtspec.models.weights import SINGLE

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class StoredFiles:
    """What is there of a checkpoint's weights.

    :param format: None if there are none.
    :param files: weight files that are there, without the index.
    :param tensors: of the files that could be read; empty for pickled ones.
    :param names: what pickled weights list in an index.
    :param missing_files: that the index, or the numbers in the names, ask for.
    :param missing_tensors: that the index places in files that lack them.
    :param unlisted_tensors: that files hold and the index does not know.
    :param nbytes: bytes of all tensors that were read; of pickled weights, of all.
    :param has_index: whether an index says which file holds which tensor.
    """

    format: Format | None
    files: tuple[str, ...] = ()
    tensors: Mapping[str, TensorHeader] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    missing_files: tuple[str, ...] = ()
    missing_tensors: tuple[str, ...] = ()
    unlisted_tensors: tuple[str, ...] = ()
    nbytes: int = 0
    has_index: bool = False
    problems: tuple[Problem, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether every file and tensor that was asked for could be read."""
        return self.format is not None and not (
            self.missing_files or self.missing_tensors or self.problems
        )

    @property
    def is_as_indexed(self) -> bool:
        """Whether the tensors that were read are all that a loader would read."""
        usual = self.files == (SINGLE,) or (self.has_index and len(self.files) > 0)
        return self.is_complete and usual and not self.unlisted_tensors


def attempt(read: Callable[[], _T], problems: list[Problem]) -> _T | None:
    """Give what a reader gives; None if it refuses, with its reasons in ``problems``.

    :param problems: is added to.
    """
    try:
        return read()
    except UsageError as error:
        problems.extend(error.problems)
    except OSError as error:
        named = str(error.filename or "")
        what = f"cannot be read: {error.strerror or error}"
        problems.append(Problem(what, where=named, action="make it readable"))
    return None
