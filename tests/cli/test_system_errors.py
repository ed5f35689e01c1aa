"""Errors of the operating system: which file, which option, what to do."""

from __future__ import annotations

import errno
import os

import pytest

from trtspec.cli.system_errors import remedy, system_problem


def error(number, name=None):
    return OSError(number, os.strerror(number), name)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["build", "r.yaml", "--engines", "/e"], "--engines"),
        (["build", "r.yaml", "--engines=/e/a"], "--engines"),
        (["build", "/e", "--engines"], ""),
        (["build", "--engines", "/other", "--json"], ""),
    ],
)
def test_the_option_that_led_to_a_file_is_named(arguments, where):
    problem = system_problem(error(errno.EACCES, "/e/a/b"), arguments)
    assert (problem.where, problem.what) == (where, "/e/a/b: Permission denied")
    assert "chmod" in problem.action


def test_a_relative_option_holds_a_relative_file():
    problem = system_problem(error(errno.ENOSPC, "e/a"), ["--engines", "e"])
    assert problem.where == "--engines"


def test_the_variable_of_the_cache_is_named(monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", "/cache")
    problem = system_problem(error(errno.ENOSPC, "/cache/demo/x"), [])
    assert problem.where == "$TRTSPEC_CACHE"
    assert "free some space" in problem.action


def test_a_name_in_bytes_that_are_not_utf8_is_told():
    assert "caf\\xe9" in system_problem(error(errno.ENOENT, b"caf\xe9"), []).what


@pytest.mark.parametrize(
    ("number", "action"), [(errno.EFBIG, "ulimit -f"), (errno.EMFILE, "ulimit -n")]
)
def test_limits_are_named(number, action):
    assert action in remedy(error(number))


def test_every_error_has_something_to_do():
    assert "--debug" in remedy(error(errno.EXDEV))
    assert "--debug" in remedy(OSError("no number"))
    assert system_problem(OSError("no number"), []).what == "no number"
