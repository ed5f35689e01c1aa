"""What the user names is refused before measuring if it cannot serve.

Nothing here touches a device: pipes and sockets stand for everything irregular.
"""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from trtspec.bench.paths import (
    nearest_directory,
    require_rereadable,
    require_writable,
    run_directory,
)
from trtspec.errors import RunError, UsageError


def directory(path):
    path.mkdir()


def bound(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


KINDS = [(directory, "a directory"), (os.mkfifo, "a pipe"), (bound, "a socket")]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A current directory; the name of a socket must be short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, bound])
@pytest.mark.parametrize("linked", [False, True])
def test_a_run_goes_into_a_directory_or_nowhere(inside, make, linked):
    path = Path("r")
    make(path)
    if linked:
        path = Path("link")
        path.symlink_to("r")
    with pytest.raises(UsageError, match=f"--output: {path} is there already"):
        run_directory(path)


@pytest.mark.parametrize(("make", "kind"), KINDS)
def test_prompts_that_can_be_read_only_once_are_refused(inside, make, kind):
    make(Path("p.jsonl"))
    with pytest.raises(UsageError, match=f"{kind}, but must be a regular file"):
        require_rereadable(Path("p.jsonl"))


def test_a_new_and_an_existing_directory_are_accepted(inside):
    Path("old").mkdir()
    Path("link").symlink_to("old")
    for name in ("old", "new", "deep/new", "link"):
        assert run_directory(Path(name)) == Path(name)


def test_a_new_and_a_regular_file_of_prompts_are_accepted(inside):
    Path("old.jsonl").write_text("old")
    for name in ("old.jsonl", "new.jsonl"):
        require_rereadable(Path(name))


def test_an_empty_path_is_refused():
    with pytest.raises(UsageError, match="the path is empty"):
        run_directory(Path(""))


def test_trying_to_write_leaves_nothing_behind(tmp_path):
    require_writable(tmp_path / "new" / "deep" / "result.json")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "kept").mkdir()
    require_writable(tmp_path / "kept" / "result.json")
    assert [p.name for p in tmp_path.rglob("*")] == ["kept"]


@pytest.mark.parametrize(
    ("code", "words", "action"),
    [
        (errno.ENOSPC, "No space left on device", "free some space"),
        (errno.EDQUOT, "quota exceeded", "free some space"),
        (errno.EACCES, "you may not write in", "that you may write"),
        (errno.EROFS, "Read-only file system", "that you may write"),
        (errno.EIO, "Input/output error", "name another directory"),
    ],
)
def test_a_refusal_is_named_and_leaves_nothing_behind(
    tmp_path, monkeypatch, code, words, action
):
    def refuse(path, text):
        path.touch()
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(RunError) as caught:
        require_writable(tmp_path / "new" / "deep" / "result.json")
    (problem,) = caught.value.problems
    assert words in problem.what
    assert action in problem.action
    assert ("free some space" in problem.action) == ("free" in action)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_no_probe(tmp_path, monkeypatch):
    def interrupt(path, text):
        path.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", interrupt)
    with pytest.raises(KeyboardInterrupt):
        require_writable(tmp_path / "result.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_without_permission_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(RunError, match=f"you may not write in {tmp_path}"):
        require_writable(tmp_path / "result.json")


@pytest.mark.parametrize("below", ["r.json", "deep/er/r.json"])
def test_a_file_where_a_directory_is_expected_is_named(tmp_path, below):
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(RunError) as caught:
        require_writable(file / below)
    assert f"{file} is in the way: it is not a directory" in str(caught.value)
    assert "free some space" not in str(caught.value)
    assert file.read_text() == "in the way"


def test_no_directory_can_be_made_where_a_link_leads_nowhere(tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(NotADirectoryError, match="link"):
        nearest_directory(tmp_path / "link" / "deep" / "r.json")


def test_a_name_that_is_too_long_is_found(tmp_path):
    for name in ("x" * 300, f"{'y' * 300}/r.json"):
        with pytest.raises(RunError, match="File name too long"):
            require_writable(tmp_path / name)
