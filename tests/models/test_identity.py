"""Hashes are those of the content, and are computed once per content."""

import hashlib
import json
import os
import time

import pytest

from tests.models.drafters import write_medusa
from tests.models.tiny import write_checkpoint, write_pickled
from trtspec.files import cache_dir
from trtspec.models import identity
from trtspec.models.identity import file_hashes

HOUR_NS = 3600 * 10**9


def age(path):
    """Let a file look as if it had been changed an hour ago."""
    then = time.time_ns() - HOUR_NS
    os.utime(path, ns=(then, then))


@pytest.fixture
def checkpoint(tmp_path):
    """Write a checkpoint that was changed long enough ago for its hashes to be kept."""
    directory = write_checkpoint(tmp_path / "model")
    for path in directory.iterdir():
        age(path)
    return directory


@pytest.fixture
def hashed(monkeypatch):
    """Record the names of files whose content is read."""
    names = []

    def record(path, whole=identity.sha256_file):
        names.append(path.name)
        return whole(path)

    monkeypatch.setattr(identity, "sha256_file", record)
    return names


def test_hashes_are_the_sha256_of_each_file_that_counts(checkpoint):
    assert file_hashes(checkpoint) == {
        name: hashlib.sha256((checkpoint / name).read_bytes()).hexdigest()
        for name in ("config.json", "model.safetensors", "tokenizer.json")
    }


def test_nothing_is_read_a_second_time(checkpoint, hashed):
    first = file_hashes(checkpoint)
    assert len(hashed) == 3
    assert file_hashes(checkpoint) == first
    assert len(hashed) == 3


@pytest.mark.parametrize("change", ["content", "time", "inode"])
def test_a_changed_file_is_read_again(checkpoint, hashed, change):
    file_hashes(checkpoint)
    hashed.clear()
    config = checkpoint / "config.json"
    if change == "content":
        config.write_text(config.read_text() + " ")
        age(config)
    elif change == "time":
        os.utime(config, ns=(1, 1))
    else:
        status = config.stat()
        copy = checkpoint / "copy"
        copy.write_text(config.read_text().replace("llama", "mamba"))
        copy.replace(config)
        os.utime(config, ns=(status.st_mtime_ns, status.st_mtime_ns))
    content = hashlib.sha256(config.read_bytes()).hexdigest()
    assert file_hashes(checkpoint)["config.json"] == content
    assert hashed == ["config.json"]


def test_a_file_that_has_just_changed_is_not_trusted_by_its_time(tmp_path, hashed):
    directory = write_checkpoint(tmp_path)
    file_hashes(directory)
    hashed.clear()
    file_hashes(directory)
    assert len(hashed) == 3


def test_a_file_that_changes_while_it_is_read_is_not_kept(checkpoint, monkeypatch):
    config = checkpoint / "config.json"

    def change_meanwhile(path):
        if path == config:
            path.write_text("{}")
            os.utime(path, ns=(1, 1))
        return "0" * 64

    monkeypatch.setattr(identity, "sha256_file", change_meanwhile)
    file_hashes(checkpoint)
    kept = json.loads((cache_dir() / "hashes.json").read_text())
    assert str(config.resolve()) not in kept
    assert str((checkpoint / "model.safetensors").resolve()) in kept


def test_links_count_as_the_file_they_lead_to(checkpoint, tmp_path, hashed):
    file_hashes(checkpoint)
    hashed.clear()
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for path in checkpoint.iterdir():
        (snapshot / path.name).symlink_to(path)
    assert file_hashes(snapshot) == file_hashes(checkpoint)
    assert hashed == []


def test_a_blob_is_hashed_whatever_its_name_claims(checkpoint, tmp_path):
    blob = tmp_path / ("f" * 64)
    (checkpoint / "model.safetensors").rename(blob)
    (checkpoint / "model.safetensors").symlink_to(blob)
    expected = hashlib.sha256(blob.read_bytes()).hexdigest()
    assert file_hashes(checkpoint)["model.safetensors"] == expected


def test_much_unknown_content_is_not_read_if_only_known_is_wanted(
    checkpoint, hashed, monkeypatch
):
    monkeypatch.setattr(identity, "_QUICK_BYTES", 1000)
    assert file_hashes(checkpoint, cached_only=True) is None
    assert hashed == []
    whole = file_hashes(checkpoint)
    assert file_hashes(checkpoint, cached_only=True) == whole


def test_little_unknown_content_is_read_even_then(checkpoint):
    assert file_hashes(checkpoint, cached_only=True) == file_hashes(checkpoint)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"a": 1}', b'{"a": [[1, 2], "x"]}', b"\xff", b"[" * 100_000],
)
def test_a_damaged_cache_is_as_good_as_none(checkpoint, content):
    whole = file_hashes(checkpoint)
    (cache_dir() / "hashes.json").write_bytes(content)
    assert file_hashes(checkpoint) == whole
    assert file_hashes(checkpoint) == whole


def test_without_a_place_for_the_cache_hashing_still_works(
    checkpoint, tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "file" / "cache"))
    assert len(file_hashes(checkpoint)) == 3


def test_files_that_are_gone_are_forgotten(checkpoint, tmp_path):
    other = write_checkpoint(tmp_path / "other")
    for path in other.iterdir():
        age(path)
    file_hashes(other)
    gone = str((other / "config.json").resolve())
    assert gone in json.loads((cache_dir() / "hashes.json").read_text())
    (other / "config.json").unlink()
    file_hashes(checkpoint)
    kept = json.loads((cache_dir() / "hashes.json").read_text())
    assert gone not in kept
    assert str((other / "tokenizer.json").resolve()) in kept


def test_of_a_drafter_its_own_files_are_hashed(tmp_path):
    write_medusa(tmp_path, pickled=True)
    assert set(file_hashes(tmp_path, "medusa")) == {"config.json", "medusa_lm_head.pt"}
    assert set(file_hashes(tmp_path)) == {"config.json"}


def test_pickled_weights_are_hashed(tmp_path):
    hashes = file_hashes(write_pickled(tmp_path))
    content = (tmp_path / "pytorch_model.bin").read_bytes()
    assert hashes["pytorch_model.bin"] == hashlib.sha256(content).hexdigest()
