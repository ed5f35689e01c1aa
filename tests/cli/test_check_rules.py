"""``trtspec check`` explains its rules, and goes on in spite of those it is told to."""

import json
import re
from pathlib import Path

import pytest

from tests.check.samples import loaded
from tests.cli.test_check import LIMITS, TOO_LONG, trtspec
from tests.models.tiny import write_checkpoint
from trtspec.check.catalogue import entries

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def recipe(tmp_path):
    """Write a recipe that nothing is wrong with; changes are given by section."""
    write_checkpoint(tmp_path / "target")

    def write(**changes):
        return str(loaded(tmp_path, **{"limits": LIMITS, **changes}).path)

    return write


def test_explain_tells_all_about_a_rule_without_a_recipe():
    result = trtspec("check", "--explain", "context-length")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "context-length (blocking)"
    assert [line[:8].strip() for line in lines[1:] if line[2] != " "] == [
        "finds", "why", "do", "skip", "page",
    ]  # fmt: skip
    assert (REPOSITORY / lines[-1].split()[-1]).is_file()


def test_explain_all_lists_every_rule_by_theme():
    lines = trtspec("check", "--explain", "all").stdout.splitlines()
    rules = [line.strip() for line in lines if re.match(r"  \S", line)]
    assert rules == list(entries())
    assert "Memory" in lines


def test_explain_lists_the_rules_of_a_theme():
    lines = trtspec("check", "--explain", "vocabulary").stdout.splitlines()
    assert lines[0] == "Vocabulary and tokenizer"
    rules = [line.strip() for line in lines if re.match(r"  \S", line)]
    assert rules == [one.id for one in entries().values() if one.theme == "vocabulary"]


def test_explain_as_json_is_one_document():
    (rule,) = json.loads(trtspec("check", "--explain", "num-tokens", "--json").stdout)[
        "rules"
    ]
    assert (rule["id"], rule["theme"]) == ("num-tokens", "limits")
    assert rule["severity"] == ["blocking", "warning"]
    assert rule["ignorable"] == ["warning"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--explain", "contextlength"],
            "--explain: there is no rule or theme 'contextlength'; near: context-",
        ),
        (["--explain", "vocabularies"], "near: vocabulary"),
        (
            ["--explain", "nothemes"],
            "'nothemes'\n  do: trtspec check --explain all",
        ),
        ([""], "RECIPE: an empty path names nothing"),
        (["--explain", "memory", "recipe.yaml"], "looks at no recipe such as recipe"),
        ([], "no recipe is given"),
        (["recipe.yaml", "--ignore", "contextlength"], "near: context-length"),
        (["recipe.yaml", "--ignore", "lossless"], "lossless cannot be ignored"),
    ],
)
def test_a_wrong_command_line_is_2_and_says_what_to_do(arguments, said):
    result = trtspec("check", *arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert "  do: trtspec check " in result.stderr
    assert result.stdout == ""


def test_an_ignored_finding_is_shown_as_ignored_and_does_not_block(recipe):
    path = recipe(limits=TOO_LONG)
    result = trtspec("check", path, "--ignore", "context-length")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("blocking: context-length (ignored)\n")
    assert result.stdout.endswith(f"ok: nothing blocks {path} (1 ignored)\n")


def test_json_has_the_ignored_finding_and_the_verdict_without_it(recipe):
    path = recipe(limits=TOO_LONG)
    result = trtspec("check", path, "--ignore", "context-length", "--json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["verdict"] == "ok"
    assert [f["ignored"] for f in document["findings"]] == [True]


def test_all_findings_are_found_in_one_pass(recipe):
    path = recipe(
        limits={**TOO_LONG, "max_batch_size": 2},
        target={"quantization": "fp8", "revision": "main"},
        workload={"prompts": "absent.jsonl", "concurrency": [1, 64]},
        pytorch={},
    )
    document = json.loads(trtspec("check", path, "--json").stdout)
    assert {f["rule"] for f in document["findings"]} == {
        "backend-option", "concurrency", "context-length", "output-tokens", "prompts",
        "revision", "section",
    }  # fmt: skip
