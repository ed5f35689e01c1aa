"""What ``trtspec build`` prints, and with which exit code it ends."""

import json
import subprocess
import sys

import pytest

from tests.build.projects import write_project
from tests.models.tiny import TOKENS
from tests.trtllm.engine.projects import make_workshop
from trtspec.build.artifact import Artifact


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def run(tmp_path):
    """Runs ``trtspec build`` on a recipe; artifacts go to ``engines``."""

    def run(recipe, *options, engines=tmp_path / "engines"):
        command = [sys.executable, "-m", "trtspec", "build", str(recipe), *options]
        return subprocess.run(
            [*command, "--engines", str(engines)],
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_one_line_per_stage_and_the_artifact_last(run, tmp_path):
    result = run(write_project(tmp_path, draft=True))
    assert result.returncode == 0, result.stderr
    *stages, last = result.stdout.splitlines()
    assert [line.split()[0] for line in stages] == [
        "resolve", "convert-target", "convert-draft", "check-pair", "assemble",
    ]  # fmt: skip
    assert all(line.endswith(" s") for line in stages)
    assert Artifact.open(tmp_path / "engines" / last.rpartition("/")[2]).name == "tiny"
    assert result.stderr == ""


def test_second_time_the_stages_are_reused(run, tmp_path):
    recipe = write_project(tmp_path)
    first, second = run(recipe), run(recipe)
    lines = second.stdout.splitlines()
    assert lines[1].split() == ["convert-target", "reused"]
    assert lines[2].split() == ["assemble", "reused"]
    assert lines[-1] == first.stdout.splitlines()[-1]


def test_json_is_one_document_and_the_lines_go_to_stderr(run, tmp_path):
    result = run(write_project(tmp_path), "--json")
    document = json.loads(result.stdout)
    assert set(document) == {"artifact", "fingerprint", "ignored", "stages"}
    assert Artifact.open(tmp_path / "engines" / document["artifact"].rpartition("/")[2])
    assert [stage["name"] for stage in document["stages"]] == [
        "resolve", "convert-target", "assemble",
    ]  # fmt: skip
    assert set(document["stages"][0]) == {"name", "key", "duration_s", "reused"}
    assert "convert-target" in result.stderr


def test_engines_are_built_with_what_is_on_the_path(run, tmp_path, monkeypatch):
    workshop = make_workshop(tmp_path)
    for name, value in workshop.standin.environment().items():
        monkeypatch.setenv(name, value)
    result = run(workshop.write("draft_target"))
    assert result.returncode == 0, result.stderr
    *stages, last = result.stdout.splitlines()
    assert [line.split()[0] for line in stages] == [
        "resolve", "tokenizer", "convert-target", "build-target", "convert-draft",
        "build-draft", "assemble",
    ]  # fmt: skip
    artifact = Artifact.open(tmp_path / "engines" / last.rpartition("/")[2])
    assert (artifact.draft / "rank0.engine").is_file()


def test_failed_compilation_is_exit_5_with_what_it_means(run, tmp_path, monkeypatch):
    workshop = make_workshop(tmp_path, fail="build:out_of_memory")
    for name, value in workshop.standin.environment().items():
        monkeypatch.setenv(name, value)
    result = run(workshop.write("none"))
    assert result.returncode == 5
    assert "build-target failed: torch.OutOfMemoryError" in result.stderr
    assert "meaning: The GPU has too little free memory." in result.stderr
    assert "do: Free the GPU" in result.stderr
    assert "see the log " in result.stderr
    assert "Traceback (most recent" in result.stderr  # of the program's last lines
    assert 'File "' not in result.stderr


def test_examples_are_told_by_option(run, tmp_path, monkeypatch):
    workshop = make_workshop(tmp_path)
    for name, value in workshop.standin.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("TRTSPEC_TRTLLM_EXAMPLES")
    recipe = workshop.write("none")
    result = run(recipe)
    assert result.returncode == 4
    assert "no example scripts to convert with" in result.stderr
    result = run(recipe, "--examples", str(workshop.standin.examples))
    assert result.returncode == 0, result.stderr


def bad_cases():
    def no_model(folder):
        return write_project(folder, target="./gone")

    def truncated(folder):
        recipe = write_project(folder)
        weights = folder / "target-model" / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:100])
        return recipe

    def other_vocabulary(folder):
        return write_project(folder, draft=True, draft_tokens=TOKENS[::-1])

    def empty_prompts(folder):
        return write_project(folder, prompts=())

    def unknown_key(folder):
        recipe = write_project(folder)
        recipe.write_text(json.dumps({**json.loads(recipe.read_text()), "sped": 1}))
        return recipe

    def no_recipe(folder):
        return folder / "gone.yaml"

    def other_backend(name):
        def make(folder):
            recipe = write_project(folder)
            document = {**json.loads(recipe.read_text()), "backend": name}
            recipe.write_text(json.dumps(document))
            return recipe

        return make

    return [
        (no_model, 3, "gone"),
        (truncated, 3, "truncated"),
        (other_vocabulary, 3, "draft"),
        (empty_prompts, 3, "prompts.jsonl"),
        (unknown_key, 2, "sped"),
        (no_recipe, 2, "gone.yaml"),
        (other_backend("tensorrt"), 4, "TensorRT-LLM is not installed"),
        (other_backend("pytorch"), 4, "TensorRT-LLM is not installed"),
    ]


@pytest.mark.parametrize(("make", "code", "said"), bad_cases())
def test_bad_input_is_one_message_and_leaves_nothing(run, tmp_path, make, code, said):
    result = run(make(tmp_path))
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "engines").exists()


def test_engines_directory_that_cannot_be_made_is_a_wrong_option(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run(write_project(tmp_path), engines=tmp_path / "file" / "engines")
    assert result.returncode == 2
    assert "--engines: cannot write in" in result.stderr
    assert "Traceback" not in result.stderr


def test_failed_conversion_is_exit_5_with_reason_and_log(run, tmp_path, monkeypatch):
    recipe = write_project(tmp_path, dtype="bfloat16")
    broken = tmp_path / "broken" / "safetensors"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('it is broken')")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    result = run(recipe)
    assert result.returncode == 5
    assert "convert-target failed: ImportError: it is broken" in result.stderr
    log = result.stderr.rpartition("see the log ")[2].strip()
    with open(log) as stream:
        assert "Traceback" in stream.read()
