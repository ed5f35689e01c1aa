"""The command has every flag that it needs, and none that the version lacks."""

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.errors import BackendUnavailableError
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.facts.serve import serve_flags
from trtspec.trtllm.pytorch.launch.command import serve_command

EVERY = [newest_of(family) for family in FAMILIES]


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_command_starts_the_server_with_the_yaml(version):
    assert serve_command(recipe(), version, host="0.0.0.0", port=9000) == (
        *("trtllm-serve", "serve", "target", "--backend", "pytorch"),
        *("--host", "0.0.0.0", "--port", "9000"),
        *("--extra_llm_api_options", "launch/llm_args.yaml"),
    )


@pytest.mark.parametrize("version", EVERY, ids=str)
def test_every_flag_is_one_of_the_version(version):
    words = serve_command(recipe(template="t.jinja", tensor_parallel=8), version)
    used = {word for word in words if word.startswith("--")}
    assert used <= set(serve_flags(version))


@pytest.mark.parametrize(
    ("version", "has_flag"), [("1.0.0", False), ("1.1.0", False), ("1.2.0", True)]
)
def test_own_chat_template_is_given_where_a_flag_takes_it(version, has_flag):
    words = serve_command(recipe(template="t.jinja"), Version(version))
    assert (words[-2:] == ("--chat_template", "chat_template.jinja")) == has_flag
    assert ("--chat_template" in words) == has_flag


def test_paths_can_be_chosen():
    words = serve_command(recipe(), Version("1.2.1"), model="/m", config="/c.yaml")
    assert words[2] == "/m"
    assert words[-1] == "/c.yaml"


@pytest.mark.parametrize("version", ["0.20.0", "1.3.0rc20"])
def test_version_of_no_family_is_refused_with_the_reason(version):
    with pytest.raises(BackendUnavailableError, match=version) as caught:
        serve_command(recipe(), Version(version))
    assert caught.value.exit_code == 4
