"""The tokenizer's folder has all of a checkpoint but its weights."""

import json
from dataclasses import replace

import pytest

from tests.models.tiny import write_checkpoint
from tests.trtllm.engine.samples import source
from trtspec.build.stage import StageContext
from trtspec.models.identity import file_hashes
from trtspec.trtllm.engine import tokenizer as module
from trtspec.trtllm.engine.tokenizer import settings_of, tokenizer_stage


@pytest.fixture
def checkpoint(tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    (folder / "generation_config.json").write_text('{"eos_token_id": 3}')
    (folder / "tokenizer_config.json").write_text("{}")
    return folder


def here(folder):
    return replace(source("target"), directory=folder, files=file_hashes(folder))


@pytest.fixture
def run(tmp_path):
    def run(folder):
        output = tmp_path / "output"
        output.mkdir()
        stage = tokenizer_stage(here(folder))
        stage.action(StageContext(output, {}, tmp_path / "log"))
        return {path.name: path.read_bytes() for path in output.iterdir()}

    return run


def test_settings_are_copied_and_weights_are_not(run, checkpoint):
    found = run(checkpoint)
    assert set(found) == {
        "config.json",
        "generation_config.json",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    for name, content in found.items():
        assert content == (checkpoint / name).read_bytes()


def test_stage_depends_on_these_files_alone(checkpoint):
    before = tokenizer_stage(here(checkpoint))
    assert set(before.inputs) == {f"file {n}" for n in settings_of(here(checkpoint))}
    (checkpoint / "model.safetensors").write_bytes(b"other")
    assert tokenizer_stage(here(checkpoint)).key == before.key
    (checkpoint / "generation_config.json").write_text("{}")
    assert tokenizer_stage(here(checkpoint)).key != before.key


def test_checkpoint_that_is_not_here_is_planned():
    stage = tokenizer_stage(source("target"))
    assert stage.folder == "tokenizer"
    assert stage.inputs == {}
    assert stage.summary == ("copy tokenizer and configuration of org/target",)


def test_slow_tokenizer_is_converted_and_the_models_own_files_win(
    run, checkpoint, monkeypatch
):
    (checkpoint / "tokenizer.json").unlink()
    (checkpoint / "tokenizer.model").write_bytes(b"sentencepiece")
    calls = []

    def run_command(arguments, **keys):
        calls.append((arguments, keys))
        source, output = json.loads(arguments[-1])
        assert source == str(checkpoint)
        (keys["writes_to"] / "tokenizer.json").write_text("{}")
        (keys["writes_to"] / "tokenizer_config.json").write_text('{"wrong": 1}')
        assert output == str(keys["writes_to"])

    monkeypatch.setattr(module, "run_command", run_command)
    found = run(checkpoint)
    assert len(calls) == 1
    assert calls[0][1]["environment"]["HF_HUB_OFFLINE"] == "1"
    assert "trust_remote_code=False" in calls[0][0][2]
    assert found["tokenizer.json"] == b"{}"
    assert found["tokenizer_config.json"] == b"{}"
    assert found["tokenizer.model"] == b"sentencepiece"
    summary = tokenizer_stage(here(checkpoint)).summary[0]
    assert summary.endswith(", with transformers to tokenizer.json")


@pytest.mark.slow
def test_transformers_really_makes_a_tokenizer_json(run, tmp_path):
    folder = write_checkpoint(tmp_path / "model")
    (folder / "tokenizer.json").unlink()
    vocabulary = {"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\na b\n")
    settings = {"tokenizer_class": "GPT2Tokenizer", "unk_token": "<|endoftext|>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    found = run(folder)
    from tokenizers import Tokenizer

    made = Tokenizer.from_str(found["tokenizer.json"].decode())
    assert made.encode("abab").ids == [2, 2]
    assert json.loads(found["tokenizer_config.json"]) == settings
