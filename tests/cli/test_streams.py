"""Where output goes: closed pipes, full disks, encodings that cannot hold a name."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from trtspec.cli.streams import say_error

TRTSPEC = (sys.executable, "-m", "trtspec")
RESERVED = """
import click
from trtspec.cli import main
from trtspec.cli.runners import reserve_stdout

def run(*_, **__):
    reserve_stdout()
    click.echo("generated")

main.cli.main = run
main.main()
"""
WITH_RICH = """
import sys
from rich.console import Console
from trtspec.cli import main, schema

schema.command.callback = lambda **given: Console().print("a table")
sys.argv = ["trtspec", "schema"]
main.main()
"""
BLOCKED = """\
schema: trtspec/v1
name: x
target: {model: ./target}
speculation: {method: none}
"""


def ended(arguments, stdout, **more):
    """Run a program; gives its exit code and what it wrote to stderr."""
    done = subprocess.run(
        arguments, stdout=stdout, stderr=subprocess.PIPE, check=False, text=True, **more
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        (*TRTSPEC, "--help"),
        (*TRTSPEC, "schema"),
        (*TRTSPEC, "doctor", "--json"),
        (sys.executable, "-c", RESERVED),
        (sys.executable, "-c", WITH_RICH),
    ],
    ids=["help", "schema", "doctor", "reserved", "rich"],
)
def test_a_reader_that_is_gone_is_no_error(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        assert ended(arguments, stdout) == (0, "")


def allow_no_bytes():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.parametrize(
    "arguments",
    [
        (*TRTSPEC, "--help"),
        (*TRTSPEC, "schema"),
        (sys.executable, "-c", RESERVED),
        (sys.executable, "-c", RESERVED.replace("click.echo", "print")),
    ],
    ids=["help", "schema", "reserved", "left to the end"],
)
def test_output_that_has_no_room_is_an_error_told_once(tmp_path, arguments):
    with (tmp_path / "out").open("w") as stdout:
        code, told = ended(arguments, stdout, preexec_fn=allow_no_bytes)
    assert code == 5
    assert told.startswith("error: stdout: File too large\n  do: raise the limit")
    assert told.count("\n") == 2


def test_stderr_that_has_no_room_changes_no_exit_code(tmp_path):
    with (tmp_path / "err").open("w") as stderr:
        done = subprocess.run(
            (*TRTSPEC, "check", "missing.yaml"),
            stderr=stderr,
            preexec_fn=allow_no_bytes,
            check=False,
        )
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("name", "escaped"),
    [("日本", "\\u65e5\\u672c"), (os.fsdecode(b"caf\xe9"), "caf\\udce9")],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_name_that_the_encoding_cannot_hold_is_escaped(
    tmp_path, name, escaped, options
):
    recipe = tmp_path / f"{name}.yaml"
    recipe.write_text(BLOCKED)
    done = subprocess.run(
        (*TRTSPEC, "check", recipe, *options),
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert escaped.encode() in done.stdout
    assert b"unexpected" not in done.stderr
    if options:
        assert Path(json.loads(done.stdout)["recipe"]) == recipe


LONG = " ".join(["words"] * 40)


def test_an_error_is_wrapped_for_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    say_error(f"r.yaml:3: {LONG}\n  allowed: {LONG}\n  do: {LONG}\n    {LONG}")
    lines = capsys.readouterr().err.splitlines()
    *wrapped, copied = lines
    assert copied == f"    {LONG}"
    assert max(map(len, wrapped)) <= 60
    (label,) = [n for n, line in enumerate(lines) if line.startswith("  do: words")]
    assert lines[label + 1].startswith("      words")
    assert " ".join(lines[0].split())[:24] == "error: r.yaml:3: words w"


def test_in_a_file_each_part_of_an_error_stays_one_line(capsys):
    say_error(f"{LONG}\n  do: {LONG}")
    assert capsys.readouterr().err == f"error: {LONG}\n  do: {LONG}\n"
