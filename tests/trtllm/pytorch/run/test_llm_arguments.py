"""The LLM is made as the artifact's YAML says, wherever this process is."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from tests.trtllm.pytorch.run.artifacts import write_artifact
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.run.llm_arguments import (
    llm_arguments,
    read_llm_args,
    with_draft_at,
)

DRAFTERS = """
class Drafter:
    pass

def make():
    return Drafter()
"""


@pytest.fixture
def classes(monkeypatch):
    """The module ``tensorrt_llm.llmapi.llm_args``, as good as empty."""
    module = ModuleType("tensorrt_llm.llmapi.llm_args")
    for name in ("tensorrt_llm", "tensorrt_llm.llmapi", module.__name__):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.UserProvidedDecodingConfig = SimpleNamespace
    return module


@pytest.fixture
def drafters(monkeypatch, tmp_path):
    (tmp_path / "my_drafters.py").write_text(DRAFTERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    sys.modules.pop("my_drafters", None)


def test_the_yaml_is_given_with_absolute_folders(classes, tmp_path):
    artifact = write_artifact(tmp_path / "a", "1.2.1", "eagle3")
    found = llm_arguments(artifact)
    assert found["model"] == found["tokenizer"] == str(artifact.path / "target")
    assert found["backend"] == "pytorch"
    assert found["max_batch_size"] == 2
    section = found["speculative_config"]
    assert section["decoding_type"] == "Eagle"
    assert section["speculative_model"] == str(artifact.path / "draft")


@pytest.mark.parametrize("key", ["speculative_model", "speculative_model_dir"])
def test_either_spelling_of_the_drafter_is_made_absolute(tmp_path, key):
    given = {"speculative_config": {key: "draft", "max_draft_len": 3}}
    found = with_draft_at(tmp_path, given)["speculative_config"]
    assert found == {key: str(tmp_path / "draft"), "max_draft_len": 3}
    assert given["speculative_config"][key] == "draft"


def test_without_a_drafter_nothing_is_changed(tmp_path):
    for given in ({}, {"speculative_config": {"max_draft_len": 3}}):
        assert with_draft_at(tmp_path, given) == given


def test_the_vendors_own_reading_of_the_yaml_is_used_where_there_is_one(
    classes, tmp_path
):
    classes.update_llm_args_with_extra_dict = lambda ours, yaml: ours | {"yaml": yaml}
    found = llm_arguments(write_artifact(tmp_path / "a", "1.2.1", "ngram"))
    assert found["yaml"]["speculative_config"]["decoding_type"] == "NGram"


@pytest.mark.parametrize(
    "error", [ValueError("no such key: x"), RuntimeError("no such key: x")]
)
def test_what_the_vendor_refuses_is_told(classes, tmp_path, error):
    def refuse(ours, yaml):
        raise error

    classes.update_llm_args_with_extra_dict = refuse
    artifact = write_artifact(tmp_path / "a", "1.2.1")
    with pytest.raises(RunError, match=r"llm_args\.yaml: TensorRT-LLM refuses it: no"):
        llm_arguments(artifact)


def test_a_users_drafter_is_imported_and_made(classes, drafters, tmp_path):
    artifact = write_artifact(
        tmp_path / "a", "1.2.1", "user", resource_manager="my_drafters:Drafter"
    )
    config = llm_arguments(artifact)["speculative_config"]
    assert config.max_draft_len == 3
    names = [type(config.drafter).__name__, type(config.resource_manager).__name__]
    assert names == ["Drafter", "Drafter"]


@pytest.mark.parametrize("text", [None, "- a\n", "a: [", "plain"])
def test_an_unreadable_yaml_asks_for_another_build(tmp_path, text):
    file = tmp_path / "llm_args.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(RunError, match=r"(?s)cannot be read.*build the artifact again"):
        read_llm_args(file)
