"""How click's complaints about a command line read: as every other problem does."""

from __future__ import annotations

import click

from trtspec.errors import Problem


def usage_problem(error: click.ClickException) -> Problem:
    """Say what is wrong with a command line, what is allowed, and what to do.

    :param error: what click raised; its message may be a whole help text.
    """
    if not isinstance(error, click.UsageError) or _is_help(error):
        return Problem(error.format_message())
    command = error.ctx.command_path if error.ctx else "trtspec"
    action = f"{command} --help lists what it takes"
    param = error.param if isinstance(error, click.BadParameter) else None
    if param is None or isinstance(error, click.MissingParameter):
        return Problem(error.format_message(), action=action)
    return Problem(error.message, _name(param), _allowed(param.type), action)


def _is_help(error: click.UsageError) -> bool:
    """Whether the message is the help that is shown where nothing was asked for."""
    kind = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click 8.1 has none
    return isinstance(error, kind)


def _name(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.human_readable_name


def _allowed(kind: object) -> str:
    """Say what a path has to be; the messages of other types say it themselves."""
    if not isinstance(kind, click.Path):
        return ""
    if not kind.file_okay:
        return "a directory"
    return "" if kind.dir_okay else "a file"
