"""What ``trtspec plan`` prints, and that it does nothing."""

import json
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.build.projects import write_project
from tests.trtllm.engine.projects import METHODS
from tests.trtllm.engine.projects import write_project as write_engine_project
from trtspec.check.catalogue import entries

LLAMA = {
    "0.17.0": "/app/tensorrt_llm/examples/llama/convert_checkpoint.py",
    "0.20.0": "/app/tensorrt_llm/examples/models/core/llama/convert_checkpoint.py",
    "1.0.0": "/app/tensorrt_llm/examples/models/core/llama/convert_checkpoint.py",
    "1.2.1": "/app/tensorrt_llm/examples/models/core/llama/convert_checkpoint.py",
}
BUNDLED = Path(__file__).parents[2] / "recipes" / "smollm2-135m" / "ngram.yaml"


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))


@pytest.fixture
def run(tmp_path):
    def run(recipe, *options, command="plan"):
        arguments = [command, str(recipe), *map(str, options)]
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
        "unknown", "free_bytes", "needs_bytes", "links", "ignored", "findings",
    }  # fmt: skip
    assert set(document["stages"][1]) == {
        "name", "action", "summary", "inputs", "needs_bytes", "command", "environment",
        "directory", "output", "texts",
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


@pytest.mark.parametrize("version", LLAMA)
def test_engines_are_planned_for_a_version_without_tensorrt_llm(run, tmp_path, version):
    result = run(write_engine_project(tmp_path, "lookahead"), "--trtllm", version)
    assert result.returncode == 0, result.stderr
    text = " ".join(result.stdout.replace("\\\n", " ").split())
    assert text.startswith("tiny on backend tensorrt ")
    assert f"python3 {LLAMA[version]} --model_dir " in text
    assert "trtllm-build --checkpoint_dir e/.stages/convert-target-" in text
    assert (
        "--max_beam_width 1 --speculative_decoding_mode lookahead_decoding "
        "--max_draft_len 3 assemble run make e/tiny-"
    ) in text
    assert not (tmp_path / "e").exists()


def test_long_commands_are_broken_before_a_flag_and_stay_one_command(run, tmp_path):
    out = run(write_engine_project(tmp_path), "--trtllm", "1.2.1").stdout.splitlines()
    start = next(i for i, line in enumerate(out) if "trtllm-build" in line)
    lines = [line.strip() for line in out[start:]]
    lines = lines[: next(i for i, text in enumerate(lines) if text[-1] != "\\") + 1]
    assert len(lines) > 2
    assert all(text.startswith("--") for text in lines[1:])
    joined = " ".join(text.rstrip("\\ ") for text in lines)
    document = json.loads(
        run(tmp_path / "tiny.yaml", "--trtllm", "1.2.1", "--json").stdout
    )
    (stage,) = [s for s in document["stages"] if s["name"] == "build-target"]
    assert shlex.split(joined) == stage["command"]
    assert stage["directory"] == str(Path(stage["output"]).parent)


@pytest.mark.parametrize("method", METHODS)
def test_version_without_engines_stops_with_the_ways_on(run, tmp_path, method):
    recipe = write_engine_project(tmp_path, method)
    result = run(recipe, "--trtllm", "1.3.0rc21")
    assert result.returncode == 4
    assert result.stdout == ""
    assert "the engine path was removed upstream in 1.3.0rc21" in result.stderr
    assert "pin a release" in result.stderr
    rewritten = method in ("none", "ngram", "draft_target")
    assert ("backend: pytorch" in result.stderr) == rewritten
    assert ("has no equivalent on backend pytorch" in result.stderr) != rewritten


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.16.0", "older than what trtspec drives"),
        ("x", "not a version number"),
        ("", "not a version number"),
    ],
)
def test_version_that_is_none_of_ours_is_exit_2(run, tmp_path, version, said):
    result = run(write_engine_project(tmp_path), "--trtllm", version)
    assert result.returncode == 2
    assert said in result.stderr


@pytest.mark.skipif(find_spec("tensorrt_llm") is not None, reason="it is here")
def test_engines_without_tensorrt_llm_are_exit_4_with_the_next_step(run, tmp_path):
    result = run(write_engine_project(tmp_path))
    assert result.returncode == 4
    assert "TensorRT-LLM is not installed" in result.stderr
    assert "trtspec plan RECIPE --trtllm 1.2.1" in result.stderr


def test_blocking_finding_has_no_plan(run, tmp_path):
    recipe = write_engine_project(tmp_path, "ngram", engine={"kv_cache": "int8"})
    result = run(recipe, "--trtllm", "1.2.1")
    assert result.returncode == 3
    assert "kv_cache int8 with ngram" in result.stderr
    rule = result.stderr.partition(")")[0].rpartition("(")[2]
    assert rule in entries()
    assert result.stdout == ""
    result = run(recipe, "--trtllm", "1.2.1", "--json")
    assert result.returncode == 3
    document = json.loads(result.stdout)
    assert (document["recipe"], document["verdict"]) == (str(recipe), "blocked")
    severities = [finding["severity"] for finding in document["findings"]]
    assert "blocking" in severities
    assert "kv_cache int8 with ngram" in result.stderr


def test_warnings_are_told_with_their_rule(run, tmp_path):
    recipe = write_project(tmp_path)
    content = json.loads(recipe.read_text())
    content["workload"]["concurrency"] = [1, 64]
    recipe.write_text(json.dumps(content))
    result = run(recipe)
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("warning: ")
    assert result.stderr.splitlines()[0].endswith("(concurrency)")
    document = json.loads(run(recipe, "--json").stdout)
    assert [f["rule"] for f in document["findings"]] == ["concurrency"]
    ignored = run(recipe, "--json", "--ignore", "concurrency", "--ignore", "tree")
    assert ignored.stderr == "no finding of tree: there is nothing to ignore\n"
    assert [f["ignored"] for f in json.loads(ignored.stdout)["findings"]] == [True]


def test_help_names_the_exit_codes():
    from click.testing import CliRunner

    from trtspec.cli.plan import command

    text = " ".join(CliRunner().invoke(command, ["--help"]).stdout.split())
    assert "Exits with 3 if a finding is blocking, and with 4 where" in text
    assert "what a build would lack here" in text


def test_folder_of_scripts_that_is_none_is_exit_2(run, tmp_path):
    recipe = write_engine_project(tmp_path)
    result = run(recipe, "--trtllm", "1.2.1", "--examples", tmp_path / "llama")
    assert result.returncode == 2
    assert "holds no example scripts" in result.stderr
