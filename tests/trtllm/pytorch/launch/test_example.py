"""The example that is shown can be sent as it is."""

import json
import shlex

import pytest

from tests.trtllm.pytorch.build.projects import build_project, write_project
from trtspec.trtllm.pytorch.launch.example import curl_command, has_chat_template

URL = "http://127.0.0.1:8000"


@pytest.fixture
def artifact(tmp_path):
    """Make an artifact whose target has these further files."""

    def make(**files):
        recipe = write_project(tmp_path / "project", "ngram")
        for name, text in files.items():
            file = tmp_path / "project" / "model" / name.replace("__", ".")
            file.write_text(text)
        return build_project(recipe, tmp_path / "engines").artifact

    return make


def sent(artifact):
    words = shlex.split(curl_command(artifact, URL, "target"))
    return words[1].removeprefix(URL), json.loads(words[-1])


def test_model_without_a_template_gets_plain_text(artifact):
    path, body = sent(artifact())
    assert path == "/v1/completions"
    assert body == {"model": "target", "prompt": "Name three rivers.", "max_tokens": 24}


@pytest.mark.parametrize(
    "files",
    [
        {"chat_template__jinja": "{{ messages }}"},
        {"tokenizer_config__json": '{"chat_template": "{{ messages }}"}'},
    ],
)
def test_model_with_a_template_gets_a_chat(artifact, files):
    path, body = sent(artifact(**files))
    assert path == "/v1/chat/completions"
    assert body["messages"] == [{"role": "user", "content": "Name three rivers."}]


@pytest.mark.parametrize("text", ["{}", "no JSON", "[]"])
def test_other_tokenizer_configs_have_no_template(artifact, text):
    built = artifact()
    (built.target / "tokenizer_config.json").write_text(text)
    assert not has_chat_template(built)
