"""Files are whole or absent; hashes depend on content alone."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from trtspec.files import cache_dir, sha256_file, sha256_json, write_atomic


def test_atomic_write_replaces_the_whole_file(tmp_path):
    path = tmp_path / "f.json"
    write_atomic(path, "old")
    write_atomic(path, "né\n")
    assert path.read_bytes() == "né\n".encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path, monkeypatch, error
):
    path = tmp_path / "f.json"
    write_atomic(path, "old")

    def fail(*_):
        raise error

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(type(error)):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    target, link = tmp_path / "folder" / "f.json", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to("folder/f.json")
    write_atomic(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert list(target.parent.iterdir()) == [target]


def test_a_link_to_nothing_is_filled(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "f.json")
    write_atomic(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "f.json").read_text() == "new"


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(
    ("make", "kind"), [(os.mkfifo, "a pipe"), (os.mkdir, "a directory")]
)
def test_what_is_no_file_is_not_replaced(tmp_path, make, kind, linked):
    there = tmp_path / "there"
    make(there)
    before = there.stat()
    path = tmp_path / "link" if linked else there
    if linked:
        path.symlink_to(there)
    with pytest.raises(FileExistsError, match=f"it is {kind}, not a file") as caught:
        write_atomic(path, "new")
    assert caught.value.filename == str(path)
    assert there.stat().st_ino == before.st_ino
    assert there.stat().st_mode == before.st_mode


def test_an_error_names_the_file_that_was_to_be_written(tmp_path):
    path = tmp_path / "missing" / "f.json"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomic(path, "text")
    assert caught.value.filename == str(path)


def test_a_name_that_is_not_utf8_is_written_with_its_bytes(tmp_path):
    write_atomic(tmp_path / "f", os.fsdecode(b"caf\xe9"))
    assert (tmp_path / "f").read_bytes() == b"caf\xe9"


def test_file_hash_is_sha256_of_the_content(tmp_path):
    path = tmp_path / "big"
    content = b"ab" * (1 << 20)
    path.write_bytes(content)
    assert sha256_file(path) == hashlib.sha256(content).hexdigest()


def test_json_hash_ignores_the_order_of_keys():
    assert sha256_json({"a": 1, "b": [1, 2]}) == sha256_json({"b": [1, 2], "a": 1})
    assert sha256_json([1, 2]) != sha256_json([2, 1])


def test_json_hash_takes_names_that_are_not_utf8():
    names = [os.fsdecode(b"caf\xe9"), os.fsdecode(b"caf\xe8"), "caf\xe9"]
    assert len({sha256_json(name) for name in names}) == 3


def test_cache_directory_can_be_chosen(monkeypatch):
    monkeypatch.delenv("TRTSPEC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_dir() == Path("/somewhere/trtspec")
    monkeypatch.setenv("TRTSPEC_CACHE", "/own")
    assert cache_dir() == Path("/own")
    monkeypatch.delenv("TRTSPEC_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "trtspec"
