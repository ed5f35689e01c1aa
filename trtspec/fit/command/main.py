"""How errors and interrupts of `fit_drafter.py` end."""

from __future__ import annotations

import sys

from trtspec.errors import INTERRUPTED_EXIT_CODE, TrtspecError
from trtspec.fit.command.parser import parser


def main(arguments: list[str] | None = None) -> None:
    """Run a subcommand; a traceback only with ``--debug``."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except KeyboardInterrupt:
        _say("stopped; the same command goes on from here")
        sys.exit(INTERRUPTED_EXIT_CODE)
    except TrtspecError as error:
        if options.debug:
            raise
        for problem in error.problems:
            _say(f"error: {problem}")
        sys.exit(error.exit_code)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
