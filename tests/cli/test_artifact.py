"""Whether an artifact's directory and a recipe both lead to the artifact."""

import io
import sys

import pytest

from tests.build.projects import write_project
from trtspec.build.progress import SILENT, Progress
from trtspec.cli.artifact import open_or_build, terminal_progress
from trtspec.errors import RecipeError, UsageError


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))


def test_recipe_is_built_and_its_directory_opened(tmp_path):
    recipe, lines = write_project(tmp_path), []
    built = open_or_build(recipe, tmp_path / "engines", Progress(lines.append))
    assert len(lines) == 3
    assert open_or_build(str(built.path), "unused", SILENT) == built
    assert open_or_build(recipe, tmp_path / "engines", SILENT) == built


def test_directory_that_is_no_artifact_is_refused(tmp_path):
    with pytest.raises(UsageError, match="not an artifact"):
        open_or_build(tmp_path, tmp_path / "engines", SILENT)


def test_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(RecipeError, match=r"gone\.yaml"):
        open_or_build(tmp_path / "gone.yaml", tmp_path / "engines", SILENT)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("err", [True, False])
def test_without_a_terminal_there_are_plain_lines(err, capsys):
    progress = terminal_progress(err=err)
    progress.status("busy")
    progress.line("done")
    output = capsys.readouterr()
    assert (output.err if err else output.out) == "done\n"
    assert (output.out if err else output.err) == ""


def test_on_a_terminal_the_status_gives_way_to_the_next_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = terminal_progress(err=True)
    progress.status("busy")
    assert "busy" in terminal.getvalue()
    assert not terminal.getvalue().endswith("\n")
    progress.line("done")
    clear = "\r\x1b[K"
    assert terminal.getvalue() == f"{clear}busy{clear}done\n"
