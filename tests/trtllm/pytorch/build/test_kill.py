"""Whether a build with links that is killed leaves a whole artifact or none."""

import shutil
import signal
import subprocess
import sys

import pytest

from tests.build.projects import snapshot
from tests.trtllm.pytorch.build.killer import WHERE
from tests.trtllm.pytorch.build.projects import build_project, write_project
from trtspec.build.artifact import Artifact
from trtspec.errors import UsageError


def killed_build(where, recipe, engines):
    """Run a build that dies; it must really have died of it."""
    module = "tests.trtllm.pytorch.build.killer"
    command = [sys.executable, "-m", module, where, str(recipe), str(engines)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == -signal.SIGKILL, result.stderr


def leftovers(engines):
    return [*engines.glob(".stages/tmp-*"), *engines.glob(".tmp-*")]


@pytest.mark.parametrize("where", WHERE)
def test_killed_build_leaves_nothing_and_goes_on_to_the_same(where, tmp_path, engines):
    recipe = write_project(tmp_path, "eagle3")
    killed_build(where, recipe, engines)
    assert [p for p in engines.iterdir() if not p.name.startswith(".")] == []
    resumed = build_project(recipe, engines).artifact
    undisturbed = build_project(recipe, tmp_path / "other").artifact
    assert snapshot(resumed.path) == snapshot(undisturbed.path)
    assert Artifact.open(resumed.path) == resumed
    assert leftovers(engines) == []
    assert (tmp_path / "model" / "config.json").is_file()


@pytest.mark.parametrize("where", ["link", "links", "manifest"])
def test_kill_while_a_link_is_moved_leaves_no_half_artifact(where, tmp_path, engines):
    first = build_project(write_project(tmp_path / "a"), engines).artifact
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    moved = tmp_path / "b" / "tiny.yaml"
    killed_build(where, moved, engines)
    with pytest.raises(UsageError, match="not an artifact"):
        Artifact.open(first.path)
    again = build_project(moved, engines).artifact
    assert again.path == first.path
    assert (first.path / "target").resolve() == tmp_path / "b" / "model"
    assert not list(first.path.glob(".*"))
