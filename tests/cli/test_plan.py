"""What ``trtspec plan`` prints, and that it does nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.build.projects import write_project

BUNDLED = Path(__file__).parents[2] / "recipes" / "smollm2-135m" / "ngram.yaml"


@pytest.fixture(autouse=True)
def _own_caches(tmp_path_factory, monkeypatch):
    caches = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))


@pytest.fixture
def run(tmp_path):
    def run(recipe, *options, command="plan"):
        arguments = [command, str(recipe), *options]
        result = subprocess.run(
            [sys.executable, "-m", "trtspec", *arguments, "--engines", "e"],
            cwd=tmp_path,
            env={**_environment(), "PYTHONPATH": str(BUNDLED.parents[2])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in result.stderr
        return result

    return run


def _environment():
    import os

    return dict(os.environ)


def test_plan_lists_stages_disk_fingerprint_and_artifact(run, tmp_path):
    result = run(write_project(tmp_path, dtype="bfloat16"))
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "tiny on backend reference"
    assert lines[2].split(maxsplit=2)[:2] == ["convert-target", "run"]
    assert "cast float32 safetensors to bfloat16" in lines[2]
    words = {line.split()[0]: line for line in lines[4:]}
    assert set(words) == {"disk", "fingerprint", "artifact"}
    assert "needed" in words["disk"]
    assert words["artifact"].split()[1].startswith("e/tiny-")
    assert not (tmp_path / "e").exists()


def test_after_a_build_the_plan_reuses(run, tmp_path):
    recipe = write_project(tmp_path)
    planned = run(recipe).stdout.splitlines()[-1].split()[1]
    assert run(recipe, command="build").stdout.splitlines()[-1] == planned
    lines = run(recipe).stdout.splitlines()
    assert [line.split()[1] for line in lines[1:4]] == ["run", "reuse", "reuse"]


def test_json_has_all_the_facts(run, tmp_path):
    document = json.loads(run(write_project(tmp_path), "--json").stdout)
    assert set(document) == {
        "name", "backend", "missing", "downloads", "stages", "fingerprint", "artifact",
        "unknown", "free_bytes", "needs_bytes",
    }  # fmt: skip
    assert set(document["stages"][1]) == {
        "name", "action", "summary", "inputs", "needs_bytes",
    }  # fmt: skip


def test_bundled_recipe_is_planned_before_its_model_is_here(run):
    result = run(BUNDLED)
    assert result.returncode == 0, result.stderr
    assert "download     SmolLM2-135M-Instruct" in result.stdout
    assert "artifact     e/smollm2-135m-ngram-" in result.stdout


def test_unknown_fingerprint_says_why(run, tmp_path):
    result = run(write_project(tmp_path, target="org/name"))
    assert "fingerprint  not known yet: org/name is not on this machine" in (
        result.stdout
    )
    assert "artifact " not in result.stdout


@pytest.mark.parametrize("command", ["plan", "build"])
def test_missing_model_is_exit_3_as_for_check(run, tmp_path, command):
    result = run(write_project(tmp_path, target="./gone"), command=command)
    assert result.returncode == 3
    assert "gone" in result.stderr
    assert not (tmp_path / "e").exists()
