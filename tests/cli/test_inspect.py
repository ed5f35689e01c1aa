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
def own_caches(caches, monkeypatch):
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
    assert found["tokenizer"]["ids"] is None


def test_a_head_of_another_target_exits_with_3_after_the_facts(tmp_path):
    write_checkpoint(tmp_path / "target")
    head = tmp_path / "head"
    write_headers(head, eagle3_config(draft_vocab_size=32000), eagle3_tensors())
    result = run(head, "--target", tmp_path / "target", code=FINDINGS)
    assert "refused: made for states of 4096, the target has 8" in result.stdout
    assert f"made for states of 4096, the target has {HIDDEN}" in str(result.exception)
    assert "choose the drafter" in str(result.exception)


def pair(directory, tokens=None, **changes):
    """Write a target and a draft model of it."""
    target = write_checkpoint(directory / "target")
    given = {} if tokens is None else {"tokens": tokens}
    return target, write_checkpoint(directory / "draft", **given, **changes)


def test_a_pair_gets_three_verdicts_on_its_vocabulary(tmp_path):
    target, draft = pair(tmp_path)
    for side, end in {"target": "t1", "draft": "t2"}.items():
        settings = {"eos_token": end, "chat_template": "{{ a }}"}
        (tmp_path / side / "tokenizer_config.json").write_text(json.dumps(settings))
    text = " ".join(run(draft, "--target", target).stdout.split())
    assert f"rows fits: {ROWS} vocabulary rows, the target has {ROWS}" in text
    assert f"entries fits: {ROWS} tokenizer entries" in text
    assert f"token ids fits: all {ROWS} ids that both have" in text
    assert "special tokens differs: eos_token: t2, the target has t1" in text
    assert "chat template fits: the same" in text
    found = document(draft, "--target", target)["tokenizer"]
    assert found["rows"] == found["entries"] == {"target": ROWS, "drafter": ROWS}
    assert found["ids"] == {"same_tokens": True, "differing": 0, "kinds": {}}
    assert found["settings"]["differing"] == [
        {"name": "eos_token", "target": "t1", "drafter": "t2"}
    ]
    assert "chat_template" in found["settings"]["compared"]


def test_a_draft_model_of_other_tokens_exits_with_3_and_shows_them(tmp_path):
    target, draft = pair(tmp_path, tokens=[f"t{n}" for n in reversed(range(ROWS))])
    result = run(draft, "--target", target, code=FINDINGS)
    assert "0: 't0', 't15'" in result.stdout
    assert "with the same tokenizer" in str(result.exception)
    found = document(draft, "--target", target, code=FINDINGS)["tokenizer"]["ids"]
    assert found["same_tokens"] is False
    conflict = found["kinds"]["conflict"]
    assert conflict["count"] == ROWS
    assert conflict["first"][0] == {"id": 0, "target": "t0", "drafter": "t15"}


def test_without_a_target_there_is_no_verdict_on_tokens(tmp_path):
    assert document(write_checkpoint(tmp_path))["tokenizer"] is None


@pytest.mark.parametrize("more", [(), ("--trtllm", "1.2.1")])
def test_a_family_that_check_refuses_serves_no_engine(tmp_path, more):
    known = write_checkpoint(tmp_path / "known")
    other = write_checkpoint(tmp_path / "other", model_type="gemma3_text")
    for directory, built in ((known, True), (other, False)):
        for service in document(directory, *more)["serves"]:
            if service["method"] not in ("ngram", "lookahead", "draft_target"):
                continue
            (engine,) = [p for p in service["places"] if p["backend"] == "tensorrt"]
            assert (engine["output"] != "-") is built
            assert ("gemma3_text" in service["unread"].get("tensorrt", "")) != built
    text = " ".join(run(other, *more).stdout.split())
    assert "not tensorrt with " in text
    assert "is not established for the family gemma3_text there" in text


def test_a_head_for_a_target_that_is_not_built_serves_no_engine(tmp_path):
    target = write_checkpoint(tmp_path / "target", model_type="gemma3_text")
    head = write_medusa(tmp_path / "head")
    (alone,) = document(head)["serves"]
    (aimed,) = document(head, "--target", target)["serves"]
    assert "tensorrt" not in alone["unread"]
    assert "medusa is not established for the family" in aimed["unread"]["tensorrt"]


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
