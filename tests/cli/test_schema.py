"""``trtspec schema``: prints the JSON Schema, without anything heavy."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from trtspec.bench.result import SCHEMA
from trtspec.cli.schema import command
from trtspec.recipe import recipe_json_schema
from trtspec.tune.result import SCHEMA as TUNE_SCHEMA


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_schema_is_one_json_document_on_stdout(arguments):
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == recipe_json_schema()


def test_the_result_of_bench_has_a_schema_too():
    result = CliRunner().invoke(command, ["bench"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["properties"]["schema"]["const"] == SCHEMA


def test_a_tuning_has_one():
    result = CliRunner().invoke(command, ["tune"])
    assert result.exit_code == 0
    schema = json.loads(result.stdout)
    assert schema["properties"]["schema"]["const"] == TUNE_SCHEMA
    assert all("description" in field for field in schema["properties"].values())


def test_help_shows_how_an_editor_uses_it():
    result = CliRunner().invoke(command, ["--help"])
    assert result.exit_code == 0
    assert "trtspec schema > recipe.schema.json" in result.stdout


def test_command_is_reached_by_its_name():
    result = subprocess.run(
        [sys.executable, "-m", "trtspec", "schema"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(result.stdout)["title"] == "trtspec recipe"
    assert result.stderr == ""


def test_arguments_are_refused():
    result = CliRunner().invoke(command, ["recipe.yaml"])
    assert result.exit_code == 2


def test_nothing_heavy_is_imported():
    code = (
        "import sys, trtspec.recipe.load, trtspec.cli.schema as s\n"
        "s.command(args=[], standalone_mode=False)\n"
        "print(sorted({'torch', 'transformers', 'numpy', 'scipy'} & set(sys.modules)),"
        " file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stderr.strip() == "[]"
