"""What can go wrong, in words a person can act on, and the exit code of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

INTERRUPTED_EXIT_CODE = 130


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what, what would be right, what to do.

    :param what: the statement, with the offending value in it.
    :param where: file:line, flag or setting it is about; empty if there is none.
    :param allowed: the values that would be accepted; empty if not applicable.
    :param action: the next step for the reader; empty if it follows from the rest.
    """

    what: str
    where: str = ""
    allowed: str = ""
    action: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.allowed:
            text += f"\n  allowed: {self.allowed}"
        if self.action:
            text += f"\n  do: {self.action}"
        return text


class TrtspecError(Exception):
    """Root of every error that trtspec raises on purpose; carries its exit code."""

    exit_code = 5

    def __init__(
        self, what: str, *, where: str = "", allowed: str = "", action: str = ""
    ) -> None:
        self.problems: tuple[Problem, ...] = (Problem(what, where, allowed, action),)
        super().__init__(str(self.problems[0]))

    @classmethod
    def from_problems(cls, problems: Iterable[Problem]) -> TrtspecError:
        """Build one error that reports several problems at once."""
        error = cls("")
        error.problems = tuple(problems)
        error.args = ("\n".join(str(p) for p in error.problems),)
        return error


class UsageError(TrtspecError):
    """The command line or an input file is wrong (exit 2)."""

    exit_code = 2


class RecipeError(UsageError):
    """A recipe cannot be read or does not follow the schema (exit 2)."""


class FindingsError(TrtspecError):
    """A check found something that must not go ahead (exit 3)."""

    exit_code = 3


class BackendUnavailableError(TrtspecError):
    """The recipe's backend does not exist on this machine (exit 4)."""

    exit_code = 4


class BuildError(TrtspecError):
    """A build stage failed (exit 5)."""


class RunError(TrtspecError):
    """Loading or running an artifact failed (exit 5)."""


class NoClaimError(TrtspecError):
    """Measured, but the data carry no claim (exit 6)."""

    exit_code = 6


class VerificationError(TrtspecError):
    """The output differs from the target model's (exit 7)."""

    exit_code = 7
