"""Whether files get to their place whole, by link or by copy, and alone."""

import errno
import os
import shutil

import pytest

from trtspec.build.place import (
    place,
    place_folder,
    remove_leftovers,
    replace_text,
)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").write_text("new a")
    (folder / "sub" / "b").write_text("new b")
    return folder


def names(folder):
    return sorted(
        p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()
    )


def test_file_is_linked(source, tmp_path):
    place(source / "a", tmp_path / "there" / "a")
    assert (tmp_path / "there" / "a").samefile(source / "a")
    assert names(tmp_path / "there") == ["a"]


@pytest.mark.parametrize("number", [errno.EXDEV, errno.EPERM, errno.EMLINK])
def test_file_is_copied_where_links_do_not_work(source, tmp_path, monkeypatch, number):
    def refuse(*paths):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    place(source / "a", tmp_path / "there" / "a")
    assert (tmp_path / "there" / "a").read_text() == "new a"
    assert not (tmp_path / "there" / "a").samefile(source / "a")


def test_other_file_of_that_name_is_replaced(source, tmp_path):
    (tmp_path / "a").write_text("old")
    place(source / "a", tmp_path / "a")
    assert (tmp_path / "a").samefile(source / "a")


def test_file_that_is_in_its_place_stays(source, tmp_path):
    place(source / "a", tmp_path / "there" / "a")
    place(source / "a", tmp_path / "there" / "a")
    assert names(tmp_path / "there") == ["a"]


def test_failed_copy_leaves_the_old_file_and_nothing_else(
    source, tmp_path, monkeypatch
):
    def no_links(*paths):
        raise OSError(errno.EXDEV, "no")

    def full(source, destination):
        with open(destination, "w") as stream:
            stream.write("half")
        raise OSError(errno.ENOSPC, "full")

    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "a").write_text("old")
    monkeypatch.setattr(os, "link", no_links)
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(OSError, match="full"):
        place(source / "a", tmp_path / "there" / "a")
    assert names(tmp_path / "there") == ["a"]
    assert (tmp_path / "there" / "a").read_text() == "old"


def test_failed_link_for_another_reason_is_not_hidden(source, tmp_path, monkeypatch):
    def full(*paths):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(OSError, match="full"):
        place(source / "a", tmp_path / "a")


def test_folder_gets_exactly_the_named_files(source, tmp_path):
    there = tmp_path / "there"
    (there / "old").mkdir(parents=True)
    (there / "old" / "stale").write_text("x")
    (there / "a").write_text("old a")
    place_folder(source, there, {"a": "", "sub/b": ""})
    assert names(there) == ["a", "sub/b"]
    assert (there / "a").read_text() == "new a"


def test_text_is_replaced_whole(tmp_path):
    replace_text(tmp_path / "x", b"one")
    replace_text(tmp_path / "x", b"two")
    assert (tmp_path / "x").read_bytes() == b"two"
    assert names(tmp_path) == ["x"]


def test_text_that_cannot_be_put_in_place_leaves_nothing(tmp_path):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "child").write_text("")
    with pytest.raises(OSError, match="directory"):
        replace_text(tmp_path / "x", b"one")
    assert names(tmp_path) == ["x/child"]


def test_leftovers_of_dead_builds_are_removed_and_nothing_else(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / ".model.safetensors.7.tmp").write_text("half")
    (tmp_path / ".manifest.json.7.tmp").write_text("half")
    (tmp_path / "note.tmp").write_text("a user's")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["note.tmp"]
