"""What a stage's program is called with, independent of where things are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

OUTPUT = "{output}"
"""Stands for the folder that a stage fills, wherever an argument is exactly this."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program that a stage runs, independent of where things are.

    :param arguments: the program first. An argument such as ``{output}`` or
        ``{convert-target}`` stands for a path; see ``resolved``.
    :param environment: variables set on top of ours.
    :param directory: where it is run, such as ``{output}``.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = OUTPUT

    def resolved(self, paths: Mapping[str, str]) -> tuple[str, ...]:
        """Put paths in the places that stand for them.

        :param paths: by name: ``output``, a checkpoint's role, an earlier stage.
        """
        return tuple(resolved(argument, paths) for argument in self.arguments)


def slot(name: str) -> str:
    """Give the argument that stands for a path."""
    return f"{{{name}}}"


def resolved(argument: str, paths: Mapping[str, str]) -> str:
    """Give the path that an argument stands for, or the argument itself."""
    if argument[:1] == "{" and argument[-1:] == "}":
        return paths.get(argument[1:-1], argument)
    return argument
