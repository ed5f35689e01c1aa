"""The page of commands has every command with every option it takes.

That it is in step, line by line, is tests/e2e/test_docs.py's.
"""

from __future__ import annotations

import re

import click
import docs_cli
import pytest

from tests.docs.conftest import ROOT
from trtspec.cli.main import COMMANDS, cli

PAGE = (ROOT / "docs/cli.md").read_text(encoding="utf-8")


def of(command: str) -> str:
    """Give the block below a command's heading."""
    found = re.search(rf"^## {command}\n\n```text\n(.*?)^```", PAGE, re.M | re.S)
    assert found, command
    return found.group(1)


def test_the_commands_stand_in_the_order_of_a_deployment():
    assert re.findall(r"^## ([a-z]+)$", PAGE, re.M) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_there(name):
    text = of(name)
    assert text.startswith(f"Usage: trtspec {name} [OPTIONS]")
    for parameter in cli.get_command(None, name).params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert re.search(rf"{re.escape(option)}\b", text), option


def test_no_line_is_wider_than_a_terminal():
    assert max(map(len, of("bench").splitlines())) <= docs_cli.WIDTH


def test_the_help_does_not_depend_on_who_asked_before():
    for name in COMMANDS:  # without the group's settings: click would keep its --help
        command = cli.get_command(None, name)
        command.get_help(click.Context(command, info_name=name))
    assert "\n".join(docs_cli.quoted_help()) in PAGE
