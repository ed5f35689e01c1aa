"""``trtspec check`` says what it found, and its exit code says whether it blocks."""

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.check.samples import loaded
from tests.models.tiny import CONTEXT, write_checkpoint
from trtspec.cli import check as check_command
from trtspec.cli import checking
from trtspec.errors import Problem
from trtspec.recipe.load import load_recipe

REPOSITORY = Path(__file__).parents[2]
LIMITS = {"max_input_tokens": 16, "max_total_tokens": CONTEXT - 4}  # room for drafts
TOO_LONG = {**LIMITS, "max_total_tokens": CONTEXT + 1}
HEAVY = {"torch", "transformers", "scipy", "numpy", "huggingface_hub", "gguf"}


@pytest.fixture
def recipe(tmp_path):
    """Write a recipe that nothing is wrong with; changes are given by section."""
    write_checkpoint(tmp_path / "target")

    def write(**changes):
        return str(loaded(tmp_path, **{"limits": LIMITS, **changes}).path)

    return write


def trtspec(*arguments, **environment):
    """Run the program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "trtspec", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
        env={**os.environ, "COLUMNS": "80", **environment},
    )


def test_a_good_recipe_ends_with_ok_and_0(recipe):
    result = trtspec("check", recipe())
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("ok: nothing blocks ")
    assert result.stderr == ""


def test_a_blocking_finding_ends_with_the_verdict_and_3(recipe):
    path = recipe(limits=TOO_LONG)
    result = trtspec("check", path)
    assert result.returncode == 3
    assert result.stderr.splitlines() == [f"error: {path}: blocked: 1 blocking"]
    assert result.stdout.startswith("blocking: context-length\n")


def test_a_finding_is_a_block_of_aligned_labels(recipe):
    path = recipe(limits=TOO_LONG)
    block = trtspec("check", path).stdout.split("\n\n")[0].splitlines()
    line = load_recipe(path).where("limits", "max_total_tokens")
    assert block[1] == f"  where {line}"
    assert block[2].startswith("  what  max_total_tokens 65 is above the 64 tokens")
    labels = [text[:8] for text in block[1:] if text[2] != " "]
    assert labels == ["  where ", "  what  ", "  why   ", "  do    "]


def test_nothing_is_wider_than_80_columns_but_what_cannot_be_broken(recipe, tmp_path):
    path = recipe(
        limits={**TOO_LONG, "max_batch_size": 2},
        target={"quantization": "fp8", "revision": "main"},
        workload={"prompts": "absent.jsonl", "concurrency": [1, 64]},
    )
    result = trtspec("check", path, COLUMNS="200")
    for text in result.stdout.splitlines():
        assert len(text) <= 80 or str(tmp_path) in text


def test_a_narrow_terminal_gets_narrow_lines(recipe):
    text = trtspec("check", recipe(limits=TOO_LONG), COLUMNS="50").stdout
    assert max(len(line) for line in text.splitlines() if "where" not in line) <= 50


def test_output_that_is_no_terminal_has_no_colours(recipe):
    assert "\x1b" not in trtspec("check", recipe(limits=TOO_LONG)).stdout


def test_json_is_one_document_with_verdict_and_findings(recipe):
    path = recipe(limits=TOO_LONG)
    result = trtspec("check", path, "--json")
    assert result.returncode == 3
    document = json.loads(result.stdout)
    assert (document["recipe"], document["verdict"]) == (path, "blocked")
    (finding,) = document["findings"]
    assert list(finding) == [
        "rule", "severity", "where", "what", "why", "action", "snippet", "source",
        "values", "ignored",
    ]  # fmt: skip
    assert (finding["rule"], finding["severity"]) == ("context-length", "blocking")


def test_json_of_a_good_recipe_says_ok(recipe):
    result = trtspec("check", recipe(), "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["verdict"] == "ok"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_recipe_that_cannot_be_read_is_2_without_a_traceback(tmp_path, flags):
    result = trtspec("check", str(tmp_path / "absent.yaml"), *flags)
    assert result.returncode == 2
    assert "absent.yaml" in result.stderr
    assert "Traceback" not in result.stderr
    assert bool(result.stdout) == bool(flags)


@pytest.mark.skipif(find_spec("tensorrt_llm") is not None, reason="it is here")
def test_backend_pytorch_without_tensorrt_llm_is_a_finding_with_the_option(recipe):
    result = trtspec("check", recipe(backend="pytorch"))
    assert result.returncode == 3
    assert "TensorRT-LLM is not installed" in result.stdout
    flat = " ".join(result.stdout.split())
    assert "the version decides what is written" in flat
    assert "--trtllm 1.2.1" in flat


def test_backend_pytorch_is_checked_for_a_version_without_tensorrt_llm(recipe):
    path = recipe(
        backend="pytorch",
        target={"dtype": "float16"},
        speculation={"method": "suffix", "draft_length": 4},
    )
    assert trtspec("check", path, "--trtllm", "1.4.0rc4").returncode == 0
    result = trtspec("check", path, "--trtllm", "1.2.1")
    assert result.returncode == 3
    assert "TensorRT-LLM 1.2.1 has no method suffix" in result.stdout


def test_version_of_no_family_is_a_finding_with_the_next_that_has_one(recipe):
    result = trtspec("check", recipe(backend="pytorch"), "--trtllm", "1.3.0rc5")
    assert result.returncode == 3
    flat = " ".join(result.stdout.split())
    assert "TensorRT-LLM 1.3.0rc5 is of no release family" in flat
    assert "release:1.4.0rc4" in flat


def test_engines_are_checked_for_a_version_without_tensorrt_llm(recipe):
    target = {"dtype": "float16"}
    path = recipe(backend="tensorrt", target=target)
    result = trtspec("check", path, "--trtllm", "1.2.1")
    assert result.returncode == 0, result.stdout
    path = recipe(
        backend="tensorrt",
        target=target,
        engine={"build_flags": {"tokens_per_block": 8}},
    )
    assert trtspec("check", path, "--trtllm", "1.2.1").returncode == 0
    result = trtspec("check", path, "--trtllm", "0.17.0")
    assert result.returncode == 3
    assert "blocking: build-flags" in result.stdout
    assert "trtllm-build 0.17.0 has no flag --tokens_per_block" in result.stdout


@pytest.mark.skipif(find_spec("tensorrt_llm") is not None, reason="it is here")
def test_engines_without_tensorrt_llm_are_a_finding(recipe):
    result = trtspec("check", recipe(backend="tensorrt"))
    assert result.returncode == 3
    assert "TensorRT-LLM is not installed" in result.stdout


def test_sampling_that_is_lossy_blocks_unless_it_is_allowed(recipe):
    sampling = {"temperature": 0.7}
    given = {"backend": "tensorrt", "sampling": sampling}
    result = trtspec("check", recipe(**given), "--trtllm", "1.2.1", "--json")
    assert result.returncode == 3
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["rule"], finding["severity"]) == ("lossless", "blocking")
    allowed = {"method": "ngram", "draft_length": 4, "allow_lossy": True}
    result = trtspec(
        "check", recipe(**given, speculation=allowed), "--trtllm", "1.2.1", "--json"
    )
    assert result.returncode == 0
    assert json.loads(result.stdout)["findings"][0]["severity"] == "warning"


def test_missing_packages_are_findings(recipe, monkeypatch):
    class Bare:
        version, rules = None, ()

        def missing(self, formats):
            return [Problem(f"torch for {', '.join(formats)} not installed")]

    monkeypatch.setattr(checking, "backend_for", lambda recipe, **_: Bare())
    from click.testing import CliRunner

    result = CliRunner().invoke(check_command.command, [recipe(), "--json"])
    document = json.loads(result.stdout)
    assert document["findings"][0]["rule"] == "installation"
    assert document["findings"][0]["what"].startswith("torch for safetensors")


@pytest.mark.parametrize("name", ["ngram", "none"])
def test_bundled_recipes_pass_before_the_demo_model_is_downloaded(tmp_path, name):
    path = f"recipes/smollm2-135m/{name}.yaml"
    result = trtspec("check", path, "--json", TRTSPEC_CACHE=str(tmp_path))
    assert result.returncode == 0, result.stdout
    findings = {f["rule"]: f["severity"] for f in json.loads(result.stdout)["findings"]}
    assert findings["download"] == "note"
    assert list(tmp_path.iterdir()) == []


def test_heavy_libraries_are_not_imported(recipe, tmp_path):
    write_checkpoint(tmp_path / "draft")
    method = {"method": "draft_target", "model": "./draft", "draft_length": 2}
    result = trtspec("check", recipe(speculation=method), PYTHONPROFILEIMPORTTIME="1")
    assert result.returncode == 0, result.stderr
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in result.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "pydantic" in imported
    assert not imported & HEAVY


def test_help_names_the_exit_code_and_an_example():
    result = trtspec("check", "--help")
    assert result.returncode == 0
    assert "Exits with 3" in result.stdout
    assert "trtspec check recipes/" in result.stdout


def test_version_without_engines_is_one_finding_with_a_recipe_to_copy(recipe, tmp_path):
    path = recipe(backend="tensorrt", target={"dtype": "float16"})
    result = trtspec("check", path, "--trtllm", "1.3.0rc21")
    assert result.returncode == 3
    assert result.stdout.count("blocking: ") == 1
    assert "pin a release" in result.stdout
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    start = next(i for i, line in enumerate(lines) if line.startswith("    schema:"))
    copied = tmp_path / "copied.yaml"
    copied.write_text(textwrap.dedent("\n".join(lines[start:])))
    assert load_recipe(copied).recipe.backend == "pytorch"


@pytest.mark.parametrize("version", ["", "latest", "1,2"])
@pytest.mark.parametrize("backend", ["tensorrt", "pytorch", "reference"])
def test_version_that_is_none_is_2(recipe, backend, version):
    result = trtspec("check", recipe(backend=backend), "--trtllm", version)
    assert result.returncode == 2
    assert f"--trtllm: {version!r} is not a version number" in result.stderr


def test_a_version_before_backend_pytorch_is_told_which_releases_have_it(recipe):
    result = trtspec("check", recipe(backend="pytorch"), "--trtllm", "0.16")
    assert result.returncode == 2
    assert "TensorRT-LLM 0.16 is older than its backend pytorch" in result.stderr
    assert "allowed: >=1.0,<1.1 or " in result.stderr
    assert "rc20" not in result.stderr


def test_a_checkpoint_in_place_of_a_recipe_is_told_to_be_one(tmp_path):
    place = write_checkpoint(tmp_path / "target")
    for more in ((), ("--for", "recipe.yaml")):
        result = trtspec("check", str(place), *more)
        assert result.returncode == 2
        assert f"{place} is a checkpoint (" in result.stderr
        assert f"do: trtspec inspect {place}" in result.stderr


def test_a_rule_without_a_finding_is_told_to_be_ignored_in_vain(recipe):
    result = trtspec("check", recipe(), "--ignore", "context-length")
    assert result.returncode == 0
    told = "no finding of context-length: there is nothing to ignore\n"
    assert result.stderr == told
    result = trtspec("check", recipe(limits=TOO_LONG), "--ignore", "context-length")
    assert result.stderr == ""
