"""serve and bench refuse an environment that forces acceptance (case 20)."""

import pytest
import yaml
from click.testing import CliRunner

from tests.check.samples import content
from trtspec.cli.main import cli
from trtspec.errors import UsageError

NAME = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(content()))
    return str(path)


@pytest.mark.parametrize(
    ("command", "variable", "length"),
    [
        ("serve", NAME, "2.6"),
        ("bench", NAME, "2.6"),
        ("bench", "SGLANG_SIMULATE_ACC_LEN", "1.6"),
    ],
)
def test_it_is_refused_by_name_before_anything_is_built(
    monkeypatch, recipe, command, variable, length
):
    monkeypatch.setenv(variable, "1.6")
    result = CliRunner().invoke(cli, [command, recipe])
    assert isinstance(result.exception, UsageError)
    (problem,) = result.exception.problems
    assert problem.where == f"${variable}"
    assert f"acceptance length {length}" in problem.what
    assert problem.action == f"unset {variable}"


@pytest.mark.parametrize("command", ["serve", "bench"])
def test_a_variable_that_is_off_is_none(monkeypatch, recipe, command):
    monkeypatch.setenv(NAME, "0")
    result = CliRunner().invoke(cli, [command, recipe])
    assert result.exception
    assert NAME not in str(result.exception)
