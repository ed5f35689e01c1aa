"""Builds with an installation of stand-ins, whose classes validate the result."""

import subprocess
import sys

import pytest

from tests.standins import install
from tests.trtllm.pytorch.build.projects import write_project
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.cli.common import backend_for, require_available
from trtspec.cli.verdicts import verdicts
from trtspec.gpus import VISIBLE
from trtspec.recipe import load_recipe
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.probe import probe


@pytest.fixture
def standin(tmp_path, monkeypatch):
    def standin(version):
        monkeypatch.delenv(VISIBLE, raising=False)
        made = install(tmp_path / "standin", version, pytorch=True)
        made.activate(monkeypatch)
        return made

    return standin


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_built_was_validated_by_the_installed_classes(
    standin, tmp_path, engines, family
):
    version = str(newest_of(family))
    standin(version)
    loaded = load_recipe(write_project(tmp_path, "eagle3"))
    backend = backend_for(loaded.recipe)
    require_available(backend, loaded.recipe)
    artifact = build(loaded, backend, engines).artifact
    log = (artifact.path / "logs" / "configure.log").read_text()
    assert f"against the classes of the installed TensorRT-LLM {version}" in log
    assert artifact.manifest.versions["tensorrt_llm"] == version
    assert Artifact.open(artifact.path) == artifact


def test_doctor_finds_the_backend_usable(standin):
    standin("1.2.1")
    (verdict,) = [v for v in verdicts(probe()) if v.backend == "pytorch"]
    assert verdict.available
    assert verdict.what == "TensorRT-LLM 1.2.1, configured as 1.2"


def test_build_without_a_builder_is_no_problem_of_this_backend(standin, tmp_path):
    standin("1.4.0rc4")
    found = probe()
    assert found.builder is None
    assert found.server is not None
    loaded = load_recipe(write_project(tmp_path, "suffix"))
    require_available(backend_for(loaded.recipe), loaded.recipe)


def test_command_line_builds_and_says_what_was_validated(standin, tmp_path):
    made = standin("1.2.1")
    recipe = write_project(tmp_path, "ngram")
    result = subprocess.run(
        [sys.executable, "-m", "trtspec", "build", str(recipe), "--engines", "e"],
        cwd=tmp_path,
        env=made.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "against the classes of the installed TensorRT-LLM 1.2.1" in result.stdout
    assert Artifact.open(tmp_path / result.stdout.splitlines()[-1]).name == "tiny"
