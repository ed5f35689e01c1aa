"""Whether a disk's refusals become one clear line that names the directory."""

import errno
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from trtspec.build.space import (
    NoSpaceError,
    free_bytes,
    human_bytes,
    require_space,
    require_writable,
    writing,
)
from trtspec.errors import BuildError, UsageError


def refuse(number, filename=None):
    return OSError(number, os.strerror(number), filename)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (269_060_584, "269 MB"),
        (1_500_000_000, "1.5 GB"),
        (3 * 10**15, "3e+03 TB"),
    ],
)
def test_bytes_are_written_for_people(count, text):
    assert human_bytes(count) == text


def test_free_bytes_looks_at_the_nearest_folder_that_exists(tmp_path):
    assert free_bytes(tmp_path / "not" / "there") > 0


def test_too_little_space_is_refused_with_both_numbers(tmp_path, monkeypatch):
    usage = shutil._ntuple_diskusage(10**9, 10**9, 5_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    require_space(tmp_path, 5_000, "convert")
    with pytest.raises(NoSpaceError) as caught:
        require_space(tmp_path, 5_001, "convert")
    assert f"convert needs 5 kB in {tmp_path}, but 5 kB are free" in str(caught.value)
    assert "--engines" in caught.value.problems[0].action
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_names_the_directory(tmp_path, number):
    message = f"no space left on the disk of {tmp_path}"
    with pytest.raises(NoSpaceError, match=message), writing(tmp_path):
        raise refuse(number, "/some/source")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOTDIR])
@pytest.mark.parametrize("below", [True, False])
def test_directory_that_cannot_be_written_is_named(tmp_path, number, below):
    filename = str(tmp_path / "engines" / "x") if below else None
    message = r"cannot write in .*engines"
    with pytest.raises(BuildError, match=message), writing(tmp_path / "engines"):
        raise refuse(number, filename)


def test_source_that_cannot_be_read_is_not_blamed_on_the_directory(tmp_path):
    with pytest.raises(PermissionError), writing(tmp_path / "engines"):
        raise refuse(errno.EACCES, str(tmp_path / "model" / "weights"))


def test_other_failures_pass(tmp_path):
    with pytest.raises(FileNotFoundError), writing(tmp_path):
        raise refuse(errno.ENOENT, str(tmp_path / "x"))


def test_writable_directory_is_made(tmp_path):
    require_writable(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_file_in_the_way_is_a_wrong_option(tmp_path):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "engines"):
        with pytest.raises(UsageError, match=f"cannot write in {place}: ") as caught:
            require_writable(place)
        assert caught.value.problems[0].where == "--engines"


@pytest.mark.skipif(sys.platform != "linux", reason="names a place in /proc")
def test_place_where_no_directory_can_be_made_is_a_wrong_option():
    with pytest.raises(UsageError, match="cannot write in /proc/engines: No such"):
        require_writable(Path("/proc/engines"))


def test_disk_that_is_full_at_the_start_is_no_wrong_option(tmp_path, monkeypatch):
    def refused(**options):
        raise refuse(errno.ENOSPC, str(options["dir"]))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with pytest.raises(NoSpaceError, match="no space left"):
        require_writable(tmp_path)


def test_directory_without_write_permission_is_a_wrong_option(tmp_path, monkeypatch):
    def refused(**options):
        raise refuse(errno.EACCES, str(options["dir"]))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    with pytest.raises(UsageError, match="Permission denied") as caught:
        require_writable(tmp_path)
    assert str(tmp_path) in str(caught.value)
