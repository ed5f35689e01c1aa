"""With ``--json`` stdout has a document of an error, too, and never two."""

import json

import pytest

from tests.build.projects import write_project
from tests.models.tiny import CONTEXT
from tests.trtllm.engine.projects import write_project as write_engine_project
from trtspec.cli.main import _run


@pytest.fixture
def document(capsys):
    """Runs a command; gives its document, and checks that its code is told in it."""

    def document(*arguments):
        code = _run([*map(str, arguments), "--json"])
        out, err = capsys.readouterr()
        assert err.startswith("error: ")
        told = json.loads(out)
        if "exit_code" in told:
            assert (told["verdict"], told["exit_code"]) == ("error", code)
        return code, told

    return document


@pytest.mark.parametrize(
    ("arguments", "where", "what"),
    [
        (["check", "absent.yaml"], "absent.yaml", "the recipe"),
        (["plan", "absent.yaml"], "absent.yaml", "the recipe"),
        (["run", "absent.yaml", "--prompt", "a"], "absent.yaml", "the recipe"),
        (["inspect", "nope"], "MODEL", "nope"),
        (["methods", "nosuch"], "NAME", "there is no method 'nosuch'"),
        (["init", "nope/x y"], "TARGET", "nope/x y"),
        (["check", "--nosuch"], "", "No such option"),
        (["biuld"], "", "Did you mean build?"),
        (["plan", "r.yaml", "--engines", __file__], "--engines", "is a file"),
    ],
)
def test_a_wrong_command_line_is_a_document(document, arguments, where, what):
    code, told = document(*arguments)
    assert code == 2
    (problem,) = told["problems"]
    assert list(problem) == ["what", "where", "allowed", "action"]
    assert where in problem["where"]
    assert what in problem["what"]


def test_of_a_directory_that_is_no_file_it_says_what_is_allowed(document):
    _, told = document("plan", "r.yaml", "--engines", __file__)
    (problem,) = told["problems"]
    assert problem["allowed"] == "a directory"
    assert problem["action"] == "trtspec plan --help lists what it takes"


def test_a_backend_that_is_not_here_is_a_document(document, tmp_path):
    recipe = write_engine_project(tmp_path)
    code, told = document("plan", recipe, "--trtllm", "1.3.0rc21")
    assert code == 4
    assert "pin a release" in told["problems"][0]["action"]


@pytest.mark.parametrize("command", ["check", "plan"])
def test_what_has_findings_has_no_second_document(document, tmp_path, command):
    limits = {"max_total_tokens": CONTEXT + 1}
    code, told = document(command, write_project(tmp_path, limits=limits))
    assert code == 3
    assert told["verdict"] == "blocked"
    code, told = document("methods", "nosuch")  # in the same process
    assert told["verdict"] == "error"


def test_of_a_command_that_prints_lines_it_is_a_line(capsys):
    assert _run(["run", "absent.yaml", "--prompt", "a", "--json"]) == 2
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_without_the_option_stdout_stays_empty(capsys):
    assert _run(["check", "absent.yaml"]) == 2
    assert capsys.readouterr().out == ""
