"""Files are whole or absent; hashes depend on content alone."""

from __future__ import annotations

import hashlib
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


def test_file_hash_is_sha256_of_the_content(tmp_path):
    path = tmp_path / "big"
    content = b"ab" * (1 << 20)
    path.write_bytes(content)
    assert sha256_file(path) == hashlib.sha256(content).hexdigest()


def test_json_hash_ignores_the_order_of_keys():
    assert sha256_json({"a": 1, "b": [1, 2]}) == sha256_json({"b": [1, 2], "a": 1})
    assert sha256_json([1, 2]) != sha256_json([2, 1])


def test_cache_directory_can_be_chosen(monkeypatch):
    monkeypatch.delenv("TRTSPEC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_dir() == Path("/somewhere/trtspec")
    monkeypatch.setenv("TRTSPEC_CACHE", "/own")
    assert cache_dir() == Path("/own")
    monkeypatch.delenv("TRTSPEC_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_dir() == Path.home() / ".cache" / "trtspec"
