"""``trtspec run`` refuses what it cannot run before anything is built."""

from __future__ import annotations

import pytest
import yaml

from tests.check.samples import content
from tests.trtllm.pytorch.build.projects import installed
from trtspec.cli import artifact as cli_artifact
from trtspec.cli.main import _run
from trtspec.errors import TrtspecError
from trtspec.trtllm import probe as probing

FORCED = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
LIMITS = {"max_batch_size": 2, "max_input_tokens": 20, "max_total_tokens": 40}


class BuiltError(TrtspecError):
    """A build was begun."""

    exit_code = 99


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Runs a recipe of a backend where a build would raise; gives code and stderr."""

    def build(*_):
        raise BuiltError("a build was begun")

    monkeypatch.setattr(cli_artifact, "open_or_build", build)
    monkeypatch.setattr(probing, "probe", lambda: installed("1.2.1"))

    def run(backend, *arguments):
        speculation = {"method": "ngram", "draft_length": 4}
        recipe = content(backend=backend, limits=LIMITS, speculation=speculation)
        path = tmp_path / "recipe.yaml"
        path.write_text(yaml.safe_dump(recipe))
        code = _run(["run", str(path), "--prompt", "t3", *map(str, arguments)])
        return code, capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("backend", "arguments", "words"),
    [
        ("pytorch", ("--no-speculation",), "drafts for every request"),
        ("pytorch", ("--draft-length", 2), "fixes them for the whole engine"),
        ("pytorch", ("--max-tokens", 60), "leave no room for a prompt"),
        ("pytorch", ("--control", "min_tokens=3"), "not established"),
        ("pytorch", ("--device", "cuda:1"), "runs on the first"),
        ("pytorch", ("--threads", 2), "runs on the first"),
        ("pytorch", ("--url", "localhost"), "--url"),
        ("tensorrt", ("--threads", 2), "runs on the first"),
        ("tensorrt", ("--server",), "runs in this process"),
        ("reference", ("--url", "http://localhost:1"), "runs in this process"),
    ],
)
def test_what_cannot_be_run_is_exit_2_and_nothing_is_built(
    run, backend, arguments, words
):
    code, said = run(backend, *arguments)
    assert code == 2
    assert words in said


def test_forced_acceptance_is_refused_before_the_build_where_it_is_read(
    run, monkeypatch
):
    monkeypatch.setenv(FORCED, "2")
    code, said = run("pytorch")
    assert code == 2
    assert f"${FORCED}" in said
    assert "meaningless" in said


@pytest.mark.parametrize("backend", ["reference", "tensorrt"])
def test_elsewhere_it_is_told_to_have_no_effect(run, monkeypatch, backend):
    monkeypatch.setenv(FORCED, "2")
    code, said = run(backend)
    assert code == BuiltError.exit_code
    assert f"${FORCED} has no effect: backend {backend} does not read it" in said


@pytest.mark.parametrize("backend", ["reference", "tensorrt", "pytorch"])
def test_a_variable_that_is_off_says_nothing_and_the_build_begins(
    run, monkeypatch, backend
):
    monkeypatch.setenv(FORCED, "0")
    code, said = run(backend)
    assert code == BuiltError.exit_code
    assert FORCED not in said


def test_at_a_url_the_servers_environment_counts(run, monkeypatch):
    monkeypatch.setenv(FORCED, "2")
    code, _ = run("pytorch", "--url", "http://localhost:1")
    assert code == BuiltError.exit_code


def test_help_says_where_a_finding_is_ignored(capsys):
    assert _run(["run", "--help"]) == 0
    assert "trtspec build RECIPE --ignore RULE" in " ".join(
        capsys.readouterr().out.split()
    )
