"""What ``trtspec serve`` says before a build: missing libraries, open doors."""

from __future__ import annotations

import pytest

from trtspec.build.progress import Progress
from trtspec.cli import serve
from trtspec.errors import BackendUnavailableError


def warned(host: str) -> list[str]:
    lines: list[str] = []
    serve._warn_of_open_door(host, Progress(lines.append))
    return lines


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "localhost", "::1"])
def test_a_door_that_only_this_machine_reaches_needs_no_key(host):
    assert warned(host) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.4", "example.org"])
def test_a_door_that_others_reach_is_warned_of(host):
    (line,) = warned(host)
    assert host in line
    assert "--api-key-file" in line


def test_missing_libraries_are_named_with_how_to_get_them(monkeypatch):
    monkeypatch.setattr(serve, "_LIBRARIES", ("json", "no_such_library"))
    with pytest.raises(BackendUnavailableError) as refused:
        serve._require_extra()
    (problem,) = refused.value.problems
    assert problem.what == "no_such_library not installed"
    assert problem.action == "pip install 'trtspec[serve]'"


def test_with_all_libraries_nothing_is_refused():
    serve._require_extra()
