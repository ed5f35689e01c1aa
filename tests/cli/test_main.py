"""The command group: help, unknown commands, errors without tracebacks."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from trtspec import __version__
from trtspec.cli import main as main_module
from trtspec.cli.main import COMMANDS, cli
from trtspec.errors import FindingsError, NoClaimError, Problem, UsageError


def raising(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(cli, "main", fail)
    return main_module._run(["check"])


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns_and_has_an_example(command):
    result = CliRunner().invoke(cli, [command, "--help"], terminal_width=80)
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 80
    assert f"    trtspec {command}" in result.output
    assert "\\b" not in result.output


def test_group_help_lists_every_command_and_exit_code():
    output = CliRunner().invoke(cli, ["--help"]).output
    assert all(f"  {command}" in output for command in COMMANDS)
    assert "129 hung up; 130 interrupted" in output


def test_version_is_the_package_version():
    assert __version__ in CliRunner().invoke(cli, ["--version"]).output


def test_unknown_command_suggests_the_nearest(capsys):
    assert main_module._run(["biuld"]) == 2
    assert "Did you mean build?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("is 0", where="a.yaml:3", allowed="1 to 5"), 2, "a.yaml:3: is 0"),
        (FindingsError("no"), 3, "no"),
        (NoClaimError("noisy", action="repeat"), 6, "do: repeat"),
        (PermissionError(13, "Permission denied", "x"), 5, "x: Permission denied"),
        (ZeroDivisionError("oops"), 5, "unexpected ZeroDivisionError: oops"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_becomes_a_message_and_an_exit_code(
    monkeypatch, capsys, error, code, message
):
    assert raising(monkeypatch, error) == code
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert message in printed
    assert "Traceback" not in printed


def test_every_problem_of_an_error_is_printed(monkeypatch, capsys):
    problems = [Problem("first", "a"), Problem("second", "b")]
    assert raising(monkeypatch, UsageError.from_problems(problems)) == 2
    printed = capsys.readouterr().err
    assert "a: first" in printed
    assert "b: second" in printed


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("TRTSPEC_DEBUG", "1")
    with pytest.raises(UsageError):
        raising(monkeypatch, UsageError("bad"))
