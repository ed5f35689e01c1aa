"""``trtspec verify --url`` on a server of ours: one URL is both arms, and judged."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from tests.reference.artifacts import write_model
from tests.verify.own_server import Toy, toy_server
from trtspec.bench import conditions
from trtspec.bench.http.address import API_KEY
from trtspec.cli.main import _run

PROMPTS = ["w5 w9 w7 w8", "w6 w11 w7", "w41 w18 w11 w46", "w37 w32 w27 w42"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
    monkeypatch.delenv(API_KEY, raising=False)
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    lines = [json.dumps({"id": f"p{i}", "prompt": p}) for i, p in enumerate(PROMPTS)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines))
    write_model(tmp_path / "model")
    return tmp_path


def verify(toy, folder, *asked, api="completions"):
    few = ("--output-tokens", "6", "--concurrency", "2", "--shift", "0.45")
    with toy_server(toy) as server:
        code = _run(
            [
                *("verify", "--url", server.url, "--prompts", "p.jsonl", "--api", api),
                *("--dtype", "float32", "--output", "v.json", *few, *asked),
            ]
        )
    document = json.loads((folder / "v.json").read_text())
    return code, document, {part["name"]: part for part in document["parts"]}


ORACLE = ("--greedy", "--oracle", "--oracle-model", "model")


def test_one_url_is_both_arms(folder):
    toy = Toy()
    code, document, parts = verify(toy, folder, "--greedy")
    assert code == 0
    assert [arm["speculation"]["method"] for arm in document["arms"]] == [
        "none",
        "ngram",
    ]
    assert len({arm["endpoint"]["url"] for arm in document["arms"]}) == 1
    asked = [body.get("speculation") for body in toy.bodies]
    assert {"enabled": False} in asked
    assert None in asked
    assert parts["greedy"]["figures"]["comparisons"][0]["drafted"] > 0


@pytest.mark.parametrize("ids", [True, False], ids=["ids", "text"])
@pytest.mark.parametrize("api", ["completions", "chat"])
def test_right_tokens_and_log_probabilities_pass_the_oracle(folder, ids, api):
    code, _, parts = verify(Toy(ids=ids), folder, *ORACLE, api=api)
    verdicts = {name: part["verdict"] for name, part in parts.items()}
    assert verdicts == dict.fromkeys(("greedy", "oracle", "oracle_sampled"), "pass")
    assert code == 0
    told = parts["oracle"]["figures"]["logprobs"]
    assert [arm["wrong"]["count"] for arm in told] == [0, 0]
    sampled = parts["oracle_sampled"]["figures"]
    assert sampled["compared"] == ("token ids" if ids else "pieces of text")
    after = {one["after"] for one in sampled["on"]["positions"]}
    assert after == {0} if api == "chat" else max(after) > 0


def hotter(sampling):
    return sampling if sampling.greedy else replace(sampling, temperature=1.6)


def test_a_temperature_that_is_ignored_fails_the_sampled_oracle(folder):
    code, _, parts = verify(Toy(twist=hotter), folder, *ORACLE)
    assert code == 7
    assert parts["oracle"]["verdict"] == "pass"
    assert parts["oracle_sampled"]["verdict"] == "fail"
    assert any("flatter" in one for one in parts["oracle_sampled"]["reasons"])


def test_wrong_log_probabilities_fail_the_oracle(folder):
    code, _, parts = verify(Toy(off_by=0.3), folder, *ORACLE)
    assert code == 7
    (reason,) = parts["oracle"]["reasons"]
    assert "log-probabilities of on are not the target's, by up to 0.3" in reason


def test_another_models_checkpoint_cannot_judge(folder):
    write_model(folder / "other", seed=1)
    code, _, parts = verify(
        Toy(), folder, "--greedy", "--oracle", "--oracle-model", "other"
    )
    assert code == 6
    assert "do not run the same model" in parts["oracle"]["reasons"][0]
    assert parts["oracle_sampled"]["verdict"] == "cannot tell"


def test_a_prompt_that_is_read_otherwise_is_not_judged(folder):
    path = folder / "model" / "tokenizer_config.json"
    config = json.loads(path.read_text())
    config["chat_template"] = "w2 w2 {{ messages[0]['content'] }} w3"
    path.write_text(json.dumps(config))
    code, document, _ = verify(Toy(), folder, *ORACLE, api="chat")
    assert code == 0
    skipped = {one["name"]: one["why"] for one in document["skipped"]}
    assert "the server reads 6 tokens of prompt p0" in skipped["oracle"]
    assert "make 7" in skipped["oracle_sampled"]


def test_without_a_checkpoint_the_oracle_is_not_run(folder):
    _, document, _ = verify(Toy(), folder, "--greedy", "--oracle")
    skipped = {one["name"]: one["why"] for one in document["skipped"]}
    assert "--oracle-model" in skipped["oracle"]
