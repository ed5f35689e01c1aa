"""Faults that users reported, replayed through the commands: cases 1, 3, 8, 13, 20."""

from __future__ import annotations

import json

import pytest
import yaml
from click.testing import CliRunner

from tests.trtllm.machines import H200, bare_machine
from trtspec.cli.main import cli
from trtspec.errors import FindingsError

MEDUSA = {
    "schema": "trtspec/v1",
    "name": "acme",
    "backend": "tensorrt",
    "target": {"model": "acme/acme-7b-chat"},
    "speculation": {
        "method": "medusa",
        "model": "acme/acme-7b-medusa",
        "num_heads": 3,
        "tree": [[0], [0, 0]],
    },
}


def invoke(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def written(folder, content, name="recipe.yaml"):
    path = folder / name
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def finding(result, rule):
    return next(f for f in json.loads(result.stdout)["findings"] if f["rule"] == rule)


def without_builder(monkeypatch, tmp_path, version):
    """Case 1's machine: servers are there, trtllm-build and TensorRT are not."""
    machine = bare_machine(monkeypatch, tmp_path, gpus=[H200])
    machine.install(version, without=["trtllm-build", "commands/build.py"])
    return written(tmp_path, MEDUSA)


@pytest.mark.parametrize("version", ["1.3.0rc22", "1.3.0rc27", "1.4.0rc4"])
def test_case_1_an_engine_build_without_a_builder(monkeypatch, tmp_path, version):
    path = without_builder(monkeypatch, tmp_path, version)
    result = invoke("check", path, "--json")
    assert isinstance(result.exception, FindingsError)
    told = finding(result, "installation")
    assert told["severity"] == "blocking"
    assert "trtllm-build" in told["what"]
    assert "removed upstream" in told["what"]
    assert "pip install tensorrt_llm==1.2.1" in told["action"]
    assert "medusa has no equivalent on backend pytorch" in told["action"]


def test_case_1_a_release_that_should_have_its_builder(monkeypatch, tmp_path):
    path = without_builder(monkeypatch, tmp_path, "1.2.1")
    result = invoke("check", path, "--json")
    assert isinstance(result.exception, FindingsError)
    told = finding(result, "installation")
    assert "trtllm-build" in told["what"]
    assert "1.2.1 should have it" in told["what"]


def test_case_1_a_builder_of_nothing_installed(monkeypatch, tmp_path):
    bare_machine(monkeypatch, tmp_path)
    result = invoke("check", written(tmp_path, MEDUSA), "--json")
    told = finding(result, "installation")
    assert "TensorRT-LLM is not installed" in told["what"]


def migrated(tmp_path, **keys):
    path = written(tmp_path, {"speculative_config": keys}, "vendor.yaml")
    result = invoke("migrate", path, "--to", "1.4.0rc4", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    return yaml.safe_load(document["yaml"])["speculative_config"], document["changes"]


def test_case_3_a_bundle_of_stale_keys(tmp_path):
    made, changes = migrated(
        tmp_path,
        decoding_type="MTP",
        num_nextn_predict_layers=2,
        use_sa_spec=True,
        sa_spec_threshold=6,
    )
    assert made == {
        "decoding_type": "MTP",
        "max_draft_len": 2,
        "sa_config": {"threshold": 6},
    }
    assert {change["path"][-1] for change in changes} == {
        "num_nextn_predict_layers",
        "use_sa_spec",
        "sa_spec_threshold",
    }


def test_case_3_a_switch_that_is_ignored_is_a_warning(tmp_path):
    made, (change,) = migrated(
        tmp_path,
        decoding_type="Eagle3",
        max_draft_len=3,
        speculative_model="./head",
        eagle3_one_model=False,
    )
    assert made["decoding_type"] == "Eagle3"
    assert made["max_draft_len"] == 3
    assert "eagle3_one_model" not in made
    assert change["kind"] == "warned"
    assert "the drafter runs in the target's engine" in change["reason"]


def test_case_13_through_the_command(tmp_path):
    request = {"prompt": "a", "max_tokens": 200, "temperature": 0.7}
    request |= {"logprobs": 5, "repetition_penalty": 1.15, "min_p": 0.05}
    (tmp_path / "w.jsonl").write_text(json.dumps(request) + "\n")
    content = {
        "schema": "trtspec/v1",
        "name": "served",
        "backend": "pytorch",
        "target": {"model": "acme/target"},
        "speculation": {
            "method": "eagle3",
            "model": "acme/head",
            "draft_length": 3,
        },
        "sampling": {"temperature": 0.7},
        "workload": {"prompts": "w.jsonl", "output_tokens": 200},
    }
    path = written(tmp_path, content)
    result = invoke("check", path, "--trtllm", "1.4.0rc4", "--json")
    told = [
        (f["rule"], f["values"]["field"])
        for f in json.loads(result.stdout)["findings"]
        if f["rule"].startswith("request-")
    ]
    assert told == [
        ("request-refused", "logprobs"),
        ("request-opt-in", "repetition_penalty"),
        ("request-refused", "min_p"),
    ]
