"""Which commands exist, and how an error becomes an exit code.

Keep this file free of heavy imports: ``trtspec --help`` must stay instant.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from trtspec import __version__
from trtspec.cli import json_output
from trtspec.cli.interrupts import TerminatedError, raise_on_signals
from trtspec.cli.streams import (
    UnreadError,
    closed_pipes_as_unread,
    end_streams,
    escape_what_cannot_be_encoded,
    say_error,
)
from trtspec.errors import INTERRUPTED_EXIT_CODE, Problem, TrtspecError

COMMANDS = {
    "doctor": "Show what this machine has, and which backends it can run.",
    "methods": "Show the speculation methods, and where each keeps the output exact.",
    "schema": "Print the JSON Schema of a recipe.",
    "init": "List the methods that a target can use, and write a recipe to start from.",
    "inspect": "Say what a checkpoint really is, from its headers alone.",
    "check": "Find what would go wrong before anything slow happens.",
    "plan": "Show what build would do, without doing it.",
    "build": "Build an artifact from a recipe; resumes and skips what is unchanged.",
    "run": "Generate from an artifact or recipe.",
    "serve": "Serve an artifact or recipe as OpenAI's API.",
    "bench": "Measure speculation on against off.",
    "tune": "Choose the draft length for a workload.",
    "verify": "Prove that speculation left the output alone.",
    "report": "Show a measurement as Markdown, or as one HTML page.",
    "migrate": "Convert a vendor YAML or a recipe to another TensorRT-LLM release.",
}


_LINES = frozenset({"run", "serve"})
"""Commands whose ``--json`` is a document per line."""


class LazyGroup(click.Group):
    """Imports a command's module only when that command is used."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; ``--help`` and ``--version`` print right here."""
        with closed_pipes_as_unread():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with closed_pipes_as_unread():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the commands in the order of a deployment."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command; None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"trtspec.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for an unknown name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(_unknown_command(args[0]))
        return super().resolve_command(ctx, args)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _unknown_command(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"there is no command {name!r}.{hint} Commands: {', '.join(COMMANDS)}."


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 88},
)
@click.version_option(__version__, prog_name="trtspec")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Speculative decoding from one recipe: build, run, measure on against off.

    \b
    Example:
      trtspec build recipes/smollm2-135m/ngram.yaml
      trtspec bench recipes/smollm2-135m/ngram.yaml

    Exit codes: 0 fine; 2 usage or recipe error; 3 blocking findings; 4 backend not
    available here; 5 build or run failed; 6 measured, but no claim can be made;
    7 verification failed; 129 hung up; 130 interrupted; 143 terminated. A reader of
    the output that ends early (| head) is no error: 0, and nothing is said. With
    --json an error is a document, too, where stdout has none yet: its problems, each
    with where, what, allowed and action.
    """  # noqa: D301  click wants the backspace itself


def main() -> None:
    """Run the command line; never shows a traceback without ``--debug``."""
    raise_on_signals()
    escape_what_cannot_be_encoded()
    code = _run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over; no traceback at exit
    sys.exit(end_streams(code))


def _run(arguments: list[str]) -> int:
    debug = "--debug" in arguments or bool(os.environ.get("TRTSPEC_DEBUG"))
    arguments = [a for a in arguments if a != "--debug"]
    json_output.begin()
    try:
        result = cli.main(arguments, "trtspec", standalone_mode=False)
    except (UnreadError, BrokenPipeError):
        return 0
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _say("interrupted", INTERRUPTED_EXIT_CODE)
    except TerminatedError as error:
        return _say("terminated", 128 + int(error.args[0]))
    except Exception as error:
        if debug and not isinstance(error, click.ClickException):
            raise
        problems, code = _explain(error, arguments)
        if "--json" in arguments:
            _print_problems(problems, code, arguments)
        return _say("\n".join(map(str, problems)), code)
    return result if isinstance(result, int) else 0


def _explain(
    error: Exception, arguments: Sequence[str]
) -> tuple[tuple[Problem, ...], int]:
    """Give what is wrong, and the exit code.

    :param arguments: the command line.
    """
    if isinstance(error, TrtspecError):
        return error.problems, error.exit_code
    if isinstance(error, click.ClickException):
        from trtspec.cli.usage import usage_problem

        return (usage_problem(error),), error.exit_code
    if isinstance(error, OSError):
        from trtspec.cli.system_errors import system_problem

        return (system_problem(error, arguments),), TrtspecError.exit_code
    unexpected = Problem(
        f"unexpected {type(error).__name__}: {error}",
        action="run again with --debug and report the traceback",
    )
    return (unexpected,), TrtspecError.exit_code


def _print_problems(
    problems: Sequence[Problem], code: int, arguments: Sequence[str]
) -> None:
    """Write the document of an error, unless stdout has a document already."""
    in_lines = not _LINES.isdisjoint(arguments[:1])
    with suppress(OSError):  # the exit code and stderr still tell
        json_output.print_problems(problems, code, in_lines=in_lines)


def _say(message: str, code: int) -> int:
    say_error(message)
    return code
