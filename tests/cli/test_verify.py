"""``trtspec verify`` on artifacts: a real engine around a toy, right and wrong."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from tests.reference.artifacts import write_model
from trtspec.bench import conditions
from trtspec.cli.main import _run
from trtspec.reference import engine
from trtspec.reference.acceptance import Acceptance
from trtspec.reference.acceptance.exact import accept_greedy

PROMPTS = [f"w{a} w{b} w7 w8 w{a} w{b}" for a in (5, 6) for b in (9, 11, 13)]


def write_recipe(folder, method, name="toy", **changes):
    content = {
        "schema": "trtspec/v1",
        "name": name,
        "target": {"model": "./target", "dtype": "float32"},
        "speculation": method,
        "limits": {"max_batch_size": 4, "max_input_tokens": 24, "max_total_tokens": 80},
        "workload": {"prompts": "p.jsonl", "output_tokens": 16},
        **changes,
    }
    path = folder / f"{name}.yaml"
    path.write_text(json.dumps(content))
    return str(path)


DRAFTING = {"method": "draft_target", "model": "./draft", "draft_length": 3}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path / "target")
    write_model(tmp_path / "draft", seed=1)
    lines = [json.dumps({"id": f"p{i}", "prompt": p}) for i, p in enumerate(PROMPTS)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    return tmp_path


@pytest.fixture
def recipe(folder):
    return write_recipe(folder, DRAFTING)


def verify(*arguments, threads=True):
    few = ["--threads", "1"] if threads else []
    if "--output-tokens" not in arguments and "--quick" not in arguments:
        few += ["--output-tokens", "12"]
    if "--shift" not in arguments:
        few += ["--shift", "0.4"]
    return _run(["verify", *arguments, "--output", "v.json", *few])


def document(folder):
    return json.loads((folder / "v.json").read_text())


def parts(folder):
    return {part["name"]: part for part in document(folder)["parts"]}


def accept_a_draft_token_whatever_it_is(verified, sampling, chance):
    """Forced acceptance: the first draft token becomes output."""
    right = accept_greedy(verified.tree, verified.best)
    if len(verified.tree) == 0 or right.path:
        return right
    return Acceptance((0,), verified.best[1])


@pytest.fixture
def forced(monkeypatch):
    monkeypatch.setattr(
        engine, "rule_for", lambda method: accept_a_draft_token_whatever_it_is
    )


def test_an_exact_engine_passes_in_a_document_by_its_schema(folder, recipe, capsys):
    assert verify(recipe, "--gate", "--greedy", "--oracle") == 0
    shown = capsys.readouterr()
    first = shown.out.splitlines()[0]
    assert first.startswith("pass: no sign that speculation changes the output, by ")
    assert "lossless gate, greedy parity, oracle, oracle, sampled" in first
    assert "not tested: distribution test" in first
    found = parts(folder)
    assert list(found) == ["gate", "greedy", "oracle", "oracle_sampled"]
    greedy = found["greedy"]["figures"]
    assert [c["concurrency"] for c in greedy["comparisons"]] == [1, 4]
    assert all(c["identical"]["count"] == 6 for c in greedy["comparisons"])
    assert greedy["comparisons"][0]["drafted"] > 0
    assert greedy["tolerance"]["dtype"] == "float32"
    assert greedy["tolerance"]["spread"]["width"] == 4
    oracle = found["oracle"]["figures"]
    assert [arm["arm"] for arm in oracle["arms"]] == ["off", "on"]
    assert all(arm["wrong"]["count"] == 0 for arm in oracle["arms"])
    assert [arm["wrong"]["count"] for arm in oracle["logprobs"]] == [0, 0]
    assert all(arm["values"] > 5 * 6 * 10 for arm in oracle["logprobs"])
    sampled = found["oracle_sampled"]["figures"]
    assert sampled["drafts"]["drafted"] > 0
    assert sampled["on"]["outside"] == 0
    assert sampled["compared"] == "token ids"
    assert sampled["control"]["arm"] == "drafts accepted at 2.6 times the temperature"
    assert sampled["rounding"] < 0.001
    assert "soak" in {one["name"] for one in document(folder)["skipped"]}
    assert _run(["schema", "verify"]) == 0
    schema = json.loads(capsys.readouterr().out)
    Draft202012Validator(schema).validate(document(folder))


@pytest.mark.usefixtures("forced")
def test_forced_acceptance_fails_parity_and_oracle(folder, recipe, capsys):
    assert verify(recipe, "--greedy", "--oracle") == 7
    shown = capsys.readouterr()
    assert shown.out.startswith("fail: the output is not the target's own: greedy")
    assert "because: on at 1 requests at once against off" in shown.out
    assert "the output is not the target's own" in shown.err
    found = parts(folder)
    assert found["greedy"]["verdict"] == found["oracle"]["verdict"] == "fail"
    worst = found["greedy"]["figures"]["comparisons"][0]["differences"][0]
    assert worst["source"] == "logits"
    assert worst["gap"] > worst["tolerance"]


@pytest.mark.usefixtures("forced")
def test_a_fault_that_only_one_batch_size_shows_is_found(folder, recipe):
    assert verify(recipe, "--greedy", "--concurrency", "3") == 7
    (comparison,) = parts(folder)["greedy"]["figures"]["comparisons"]
    assert comparison["concurrency"] == 3


def test_the_off_arm_may_be_an_artifact_beside_it(folder, recipe):
    none = write_recipe(folder, {"method": "none"}, "none")
    assert verify(none, recipe, "--greedy") == 0
    arms = document(folder)["arms"]
    assert [arm["name"] for arm in arms] == ["off", "on"]
    assert [arm["artifact"]["name"] for arm in arms] == ["none", "toy"]


def test_an_artifact_directory_will_do(folder, recipe):
    assert _run(["build", recipe]) == 0
    (built,) = (folder / "engines").glob("toy-*")
    assert verify(str(built), "--greedy") == 0


def test_quick_asks_less(folder, recipe):
    assert verify(recipe, "--greedy", "--quick", "--limit", "2") == 0
    figures = parts(folder)["greedy"]["figures"]
    assert figures["max_tokens"] == 32
    assert [c["prompts"] for c in figures["comparisons"]] == [2]


def test_json_is_the_document_alone(recipe, capsys):
    assert verify(recipe, "--greedy", "--json") == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "trtspec/verify/v1"


def test_nothing_drafted_cannot_tell(folder, capsys):
    # three words that never come twice: nothing to look up
    (folder / "p.jsonl").write_text(json.dumps({"prompt": "w3"}))
    path = write_recipe(folder, {"method": "ngram", "draft_length": 2})
    code = verify(path, "--greedy", "--output-tokens", "2")
    assert code == 6
    assert "nothing was drafted" in capsys.readouterr().out


def test_a_sampled_verdict_with_its_control(folder, recipe):
    write = folder / "p.jsonl"
    write.write_text("\n".join(write.read_text().splitlines()[:3]))
    code = verify(recipe, "--sampled", "--shift", "0.5", "--temperature", "0.8")
    figures = parts(folder)["sampled"]["figures"]
    assert code in (0, 6)
    assert figures["plan"]["temperature"] == 0.8
    assert not figures["on"]["p_value"] < 1e-4
    assert figures["control_says"] == "drafts accepted at 3 times the temperature"


@pytest.mark.parametrize("option", [["--canary"], ["--soak", "0.1"]])
def test_canary_and_soak_run_alone(folder, recipe, option):
    code = verify(recipe, *option, "--limit", "2")
    assert code in (0, 6, 7)  # a toy's text need not be sane
    assert list(parts(folder)) == [option[0].removeprefix("--")]


def test_method_none_alone_has_nothing_to_verify(folder, capsys):
    path = write_recipe(folder, {"method": "none"})
    assert verify(path, "--greedy") == 2
    assert "0 that speculate and 1 with method none" in capsys.readouterr().err


def test_two_that_speculate_are_one_too_many(folder, recipe, capsys):
    other = write_recipe(folder, {"method": "ngram", "draft_length": 2}, "ngram")
    assert verify(recipe, other) == 2
    assert "2 that speculate" in capsys.readouterr().err


def test_an_engine_that_always_drafts_wants_an_off_arm_beside_it(folder, capsys):
    medusa = {"method": "medusa", "model": "./draft", "tree": [[0]]}
    path = write_recipe(folder, medusa, backend="tensorrt")
    assert verify(path, threads=False) == 2
    assert "build the same recipe with method: none" in capsys.readouterr().err


def test_options_of_servers_are_refused(recipe, capsys):
    assert verify(recipe, "--dtype", "float16") == 2
    assert "--dtype" in capsys.readouterr().err


def test_help_starts_without_heavy_imports():
    statement = (
        "import trtspec.cli.main, sys\n"
        "trtspec.cli.main.cli.get_command(None, 'verify')\n"
        "print(sorted({'torch', 'transformers', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", statement], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
