"""``trtspec inspect``: what is shown, what it exits with, and what it never imports."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.build.projects import write_project
from tests.models.drafters import write_eagle3, write_medusa
from tests.models.heads import eagle3_config, eagle3_tensors
from tests.models.large import write_headers, write_llama_70b
from tests.models.tiny import HIDDEN, ROWS, write_checkpoint, write_sharded
from trtspec.cli.main import cli

USAGE, FINDINGS = 2, 3
SLOW = {"torch", "transformers", "scipy", "huggingface_hub", "tensorrt_llm"}


@pytest.fixture(autouse=True)
def own_caches(tmp_path_factory, monkeypatch):
    caches = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("HF_HUB_CACHE", str(caches / "hub"))
    return caches


def run(*arguments, code=0):
    result = CliRunner(env={"COLUMNS": "88"}).invoke(
        cli, ["inspect", *map(str, arguments)]
    )
    given = getattr(result.exception, "exit_code", result.exit_code)
    assert given == code, result.output
    return result


def document(*arguments, code=0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def test_a_head_is_shown_with_what_it_serves(tmp_path):
    text = run(write_eagle3(tmp_path)).stdout
    assert text.startswith("EAGLE-3 head\n")
    assert "it holds the tensor d2t" in text
    assert "reduced, mapped by d2t" in text
    (row,) = [line for line in text.splitlines() if "drafter, eagle3" in line]
    assert row.split()[2:4] == ["exact", "-"]


def test_json_has_the_same_in_values(tmp_path):
    found = document(write_medusa(tmp_path, heads=5, medusa_num_heads=None))
    assert (found["kind"], found["problems"]) == ("medusa", [])
    assert found["facts"]["heads"]["count"] == 5
    assert found["facts"]["vocabulary"] == {"drafted": ROWS, "target": None}
    assert [service["method"] for service in found["serves"]] == ["medusa"]
    assert "num_heads: 5" in found["needs"][0]["snippet"]


def test_a_head_that_fits_its_target_exits_with_0(tmp_path):
    write_checkpoint(tmp_path / "target")
    head = write_eagle3(tmp_path / "head")
    found = document(head, "--target", tmp_path / "target")
    assert {fit["verdict"] for fit in found["fit"]} == {"fits"}


def test_a_head_of_another_target_exits_with_3_after_the_facts(tmp_path):
    write_checkpoint(tmp_path / "target")
    head = tmp_path / "head"
    write_headers(head, eagle3_config(draft_vocab_size=32000), eagle3_tensors())
    result = run(head, "--target", tmp_path / "target", code=FINDINGS)
    assert "refused: made for states of 4096, the target has 8" in result.stdout
    assert f"made for states of 4096, the target has {HIDDEN}" in str(result.exception)
    assert "choose the drafter" in str(result.exception)


def test_a_head_is_no_target(tmp_path):
    head = write_eagle3(tmp_path / "head")
    error = run(head, "--target", head, code=USAGE).exception
    assert "EAGLE-3 head" in str(error)
    assert "allowed: a causal language model" in str(error)


def test_a_damaged_checkpoint_exits_with_2_after_what_could_be_read(tmp_path):
    directory = write_sharded(tmp_path, shards=3)
    (directory / "model-00003-of-00003.safetensors").unlink()
    result = run(directory, code=USAGE)
    assert "hidden size" in result.stdout
    assert "missing files: 1 (model-00003-of-00003.safetensors)" in " ".join(
        result.stdout.split()
    )
    assert "do: fetch the missing files" in str(result.exception)
    assert document(directory, code=USAGE)["problems"][0]["action"]


def test_a_release_narrows_the_places_and_says_what_it_needs(tmp_path):
    head = write_eagle3(tmp_path, drafted=ROWS, table=False, draft_vocab_size=None)
    found = document(head, "--trtllm", "1.2.1")
    (service,) = found["serves"]
    assert [(p["backend"], p["family"]) for p in service["places"]] == [
        ("reference", ""),
        ("tensorrt", ""),
        ("pytorch", "1.2"),
    ]
    (need,) = found["needs"]
    assert need["snippet"] == f'"draft_vocab_size": {ROWS}'


def test_layers_that_a_release_may_not_read_are_told(tmp_path):
    head = write_eagle3(tmp_path, prefix="layers.")
    assert "layers called layers." in run(head, "--trtllm", "1.2.1").stdout
    assert "layers called layers." not in run(head, "--trtllm", "1.3.0rc22").stdout


@pytest.mark.parametrize("version", ["", "one", "0.1"])
def test_a_version_that_is_none_is_a_usage_error(tmp_path, version):
    assert "--trtllm" in str(
        run(write_eagle3(tmp_path), "--trtllm", version, code=USAGE).exception
    )


def test_a_demo_model_is_known_before_its_download():
    found = document("demo:smollm2-135m-instruct")
    assert found["kind"] == "model"
    assert found["directory"] is None
    assert found["facts"]["hidden_size"] == 576


def test_a_hub_id_is_found_in_the_cache_whole_or_not(own_caches, tmp_path):
    repository = own_caches / "hub" / "models--org--head"
    snapshot = repository / "snapshots" / "abc"
    write_eagle3(snapshot)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    assert document("org/head")["kind"] == "eagle3"
    (snapshot / "model.safetensors").unlink()
    assert document("org/head", code=USAGE)["kind"] == "eagle3"


def test_a_hub_id_that_is_not_here_says_how_to_get_it():
    error = run("org/absent", code=USAGE).exception
    assert "org/absent is not in the local hub cache" in str(error)
    assert "hf download org/absent" in str(error)


@pytest.mark.parametrize("name", ["./nowhere", "demo:nothing", "/nowhere/at/all"])
def test_what_is_not_there_is_a_usage_error(name):
    assert run(name, code=USAGE).exception.problems


def test_an_artifact_shows_its_target_and_its_drafter(tmp_path):
    recipe = write_project(tmp_path, draft=True)
    engines = tmp_path / "engines"
    built = CliRunner().invoke(cli, ["build", str(recipe), "--engines", str(engines)])
    assert built.exit_code == 0, built.output
    (artifact,) = [p for p in engines.iterdir() if (p / "manifest.json").is_file()]
    found = document(artifact)
    assert found["title"] == "trtspec artifact"
    assert found["facts"]["method"] == "draft_target"
    assert found["facts"]["backend"] == "reference"
    assert {name: part["kind"] for name, part in found["parts"].items()} == {
        "target": "model",
        "draft": "model",
    }
    assert "target: causal language model" in run(artifact).stdout


def test_inspect_is_listed_and_explained():
    text = CliRunner().invoke(cli, ["inspect", "--help"]).stdout
    assert "Say what MODEL really is" in text


IMPORTS = """\
import sys
from trtspec.cli.main import cli
try:
    cli({arguments!r}, standalone_mode=False)
finally:
    found = {slow!r} & set(sys.modules)
    print("SLOW:", ",".join(sorted(found)) or "none")
"""
RECIPE = """\
schema: trtspec/v1
name: large
backend: pytorch
target: {model: ./target, tensor_parallel: 4}
speculation: {method: ngram, draft_length: 4}
"""


@pytest.mark.parametrize("name", ["inspect", "check"])
def test_a_sharded_70b_checkpoint_takes_no_torch(tmp_path, name):
    """Its time is printed by scripts/bench_check_70b.py, and asserted nowhere."""
    target = write_llama_70b(tmp_path / "target")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE)
    arguments = {
        "inspect": ["inspect", str(target)],
        "check": ["check", str(recipe), "--trtllm", "1.2.1"],
    }[name]
    code = IMPORTS.format(arguments=arguments, slow=SLOW)
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "SLOW: none" in result.stdout, result.stderr
    assert "70.55 billion" in result.stdout or name == "check"
    assert "Traceback" not in result.stderr or "FindingsError" in result.stderr
