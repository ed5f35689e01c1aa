"""Files that a command is told to write: empty names, what is no file, what fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from trtspec.cli import main as main_module
from trtspec.cli.paths import InputPath, OutputPath, write_output
from trtspec.errors import UsageError


@click.command()
@click.option("--output", type=OutputPath())
def command(output):
    click.echo(repr(output))


def test_an_empty_path_is_refused():
    result = CliRunner().invoke(command, ["--output", ""])
    assert result.exit_code == 2
    assert "--output" in result.output
    assert "an empty path names no file" in result.output


@pytest.mark.parametrize(
    ("given", "path"), [((), None), (("--output", "a/b"), Path("a/b"))]
)
def test_other_paths_are_taken_as_they_are(given, path):
    assert CliRunner().invoke(command, given).output == f"{path!r}\n"


def test_a_directory_is_refused(tmp_path):
    assert CliRunner().invoke(command, ["--output", str(tmp_path)]).exit_code == 2


def test_a_script_can_be_run(tmp_path):
    write_output(tmp_path / "text", "a")
    write_output(tmp_path / "script", "b", executable=True)
    assert (tmp_path / "script").read_text() == "b"
    assert not (tmp_path / "text").stat().st_mode & stat.S_IXUSR
    assert (tmp_path / "script").stat().st_mode & stat.S_IXUSR


def test_what_cannot_be_written_is_the_option_s_fault(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError) as caught:
        write_output(tmp_path / "file" / "x", "text")
    (problem,) = caught.value.problems
    assert problem.where == "--output"
    assert "cannot be written: Not a directory" in problem.what
    assert "a part of it is a file" in problem.action


def test_a_pipe_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="it is a pipe, not a file"):
        write_output(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()


def test_the_folder_of_a_file_is_made_as_init_makes_it(tmp_path):
    write_output(tmp_path / "a" / "b" / "x", "text")
    assert (tmp_path / "a" / "b" / "x").read_text() == "text"


@click.command()
@click.argument("recipe", type=InputPath(path_type=Path))
def reading(recipe):
    click.echo(repr(recipe))


def test_an_empty_path_is_not_this_folder():
    result = CliRunner().invoke(reading, [""])
    assert result.exit_code == 2
    assert "an empty path names nothing" in result.output
    assert CliRunner().invoke(reading, ["a"]).output == f"{Path('a')!r}\n"


@pytest.mark.parametrize(
    "command", ["check", "plan", "build", "run", "serve", "bench", "migrate", "inspect"]
)
def test_no_command_takes_an_empty_path(command, capsys):
    more = ["--to", "1.2.1"] if command == "migrate" else []
    assert main_module._run([command, "", *more]) == 2
    assert "empty" in capsys.readouterr().err
