"""``trtspec run`` with backend pytorch: over a URL, and built and run on stand-ins."""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys

import pytest

from tests.build.projects import write_project
from tests.standins import install
from tests.standins.engines import greedy
from tests.trtllm.pytorch.run.artifacts import (
    SERVED,
    checkpoint,
    installed,
    write_artifact,
)
from tests.trtllm.pytorch.run.tiny_server import DONE, TinyServer, event
from trtspec.cli import artifact as cli_artifact
from trtspec.cli import runners
from trtspec.cli.main import _run
from trtspec.trtllm import probe as probing

ASK = ("--raw", "--prompt", "w3 w9 w4", "--max-tokens", "6", "--ignore-eos")
RECIPE = """\
schema: trtspec/v1
name: toy
backend: pytorch
target: {model: ./target, dtype: float32}
speculation: {method: ngram, draft_length: 3, max_matching_ngram: 2}
limits: {max_batch_size: 2, max_input_tokens: 20, max_total_tokens: 40}
"""


@pytest.fixture
def server():
    server = TinyServer(
        lambda body: [
            event(5, 6, 7, avg_decoded_tokens_per_iter=3.0),
            event(8, 9, 10, finish_reason="length", avg_decoded_tokens_per_iter=3.0),
            DONE,
        ]
    )
    yield server
    server.close()


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs the command on an artifact of n-gram, built for 1.2.1."""
    artifact = write_artifact(tmp_path / "artifact", "1.2.1", "ngram")
    monkeypatch.setattr(cli_artifact, "open_or_build", lambda *_: artifact)
    return lambda *arguments: _run(["run", "recipe.yaml", *map(str, arguments)])


def test_a_url_is_asked_and_text_and_figures_are_shown(run, server, capsys):
    assert run(*ASK, "--url", server.url) == 0
    shown = capsys.readouterr()
    assert shown.out == "w5 w6 w7 w8 w9 w10\n"
    assert "acceptance length 5.00" in shown.err
    assert "acceptance rate" not in shown.err


def test_nothing_but_figures_comes_on_stderr(run, server, capfd, caplog):
    figures = re.compile(
        r"6 tokens in \d+\.\d\d s, \d+\.\d tokens/s, acceptance length 5\.00\n"
        r"acceptance not available from Prometheus counters: the server has no such "
        r"page, and its iteration records may be others'\n"
    )
    for _ in range(3):
        assert run(*ASK, "--url", server.url) == 0
        gc.collect()
        assert figures.fullmatch(capfd.readouterr().err)
    assert caplog.text == ""


@pytest.mark.parametrize("name", ["target", "org/Toy", "toy-cdcdcdcdcdcd"])
def test_a_server_that_names_another_artifact_is_exit_5_and_asked_nothing(
    run, server, capsys, name
):
    server.pages["/v1/models"] = {"data": [{"id": name}]}
    assert run(*ASK, "--url", server.url) == 5
    said = capsys.readouterr().err
    assert f"the server serves {name}, which does not show" in said
    assert f"allowed: {SERVED}" in said
    assert "start one of it with trtspec serve" in said
    assert server.asked == []


def test_json_has_no_rate_where_nothing_counts_drafts(run, server, capsys):
    assert run(*ASK, "--url", server.url, "--json") == 0
    row, last = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["tokens"] == [5, 6, 7, 8, 9, 10]
    assert (row["steps"], row["accepted"], row["drafted"]) == (1, 4, None)
    assert row["acceptance_rate"] is None
    assert list(last) == ["acceptance"]
    assert last["acceptance"]["acceptance_rate"] is None
    assert "has no such page" in last["acceptance"]["unavailable"]


def test_json_ends_with_what_the_server_counted_of_our_drafts(run, server, capsys):
    counter = "trtllm_spec_decode_num_{}_tokens_total {}\n".format
    page, events = "/prometheus/metrics", server.script({})
    server.pages[page] = counter("draft", 8) + counter("accepted", 2)

    def count_and_answer(body):
        server.pages[page] = counter("draft", 16) + counter("accepted", 6)
        return events

    server.script = count_and_answer
    assert run(*ASK, "--url", server.url, "--json") == 0
    *_, last = map(json.loads, capsys.readouterr().out.splitlines())
    told = last["acceptance"]
    assert (told["drafted"], told["accepted"], told["acceptance_rate"]) == (8, 4, 0.5)
    assert "other clients count too" in told["note"]


def test_controls_reach_the_server(run, server):
    assert run(*ASK, "--url", server.url, "--control", "stop_token_ids=[40]") == 0
    assert server.asked[0]["stop_token_ids"] == [40]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--control", "min_tokens=3"), "not established"),
        (("--control", "min_token=3"), "did you mean min_tokens?"),
        (("--no-speculation",), "drafts for every request"),
        (("--draft-length", 2), "fixes them for the whole engine"),
        (("--server",), "either --url or --server"),
        (("--device", "cuda:1"), "backend pytorch runs on the first"),
    ],
)
def test_what_cannot_be_had_is_exit_2_and_nothing_is_sent(
    run, server, capsys, arguments, words
):
    assert run(*ASK, "--url", server.url, *arguments) == 2
    assert words in capsys.readouterr().err
    assert server.asked == []


@pytest.fixture
def opened(monkeypatch, capsys):
    """What was opened on a machine with 1.2.1, and what was said."""
    found = []
    monkeypatch.setattr(runners, "runner_for", lambda *a, **_: found.append(a))
    monkeypatch.setattr(probing, "probe", lambda: installed("1.2.1"))
    return found, capsys.readouterr


@pytest.mark.parametrize("way", [(), ("--server",)], ids=["in process", "server"])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--control", "min_tokens=3"), "not established"),
        (("--control", "min_p="), "min_p has no value"),
        (("--control", "temperature=1"), "use --temperature"),
        (("--max-tokens", 60), "--max-tokens: 60 output tokens leave no room"),
        (("--no-speculation",), "drafts for every request"),
    ],
)
def test_an_engine_is_not_opened_for_what_cannot_be_had(
    run, opened, way, arguments, words
):
    found, said = opened
    assert run(*ASK, *way, *arguments) == 2
    assert words in said().err
    assert found == []


def test_a_controls_fault_is_told_before_a_recipe_is_read(capsys):
    asks = ("absent.yaml", "--prompt", "w3", "--control", "min_p=2")
    assert _run(["run", *asks]) == 2
    assert "min_p is 2" in capsys.readouterr().err


def test_a_password_in_a_url_is_not_shown(run, capsys):
    assert run(*ASK, "--url", "http://me:secret@localhost:1") == 2
    assert "secret" not in capsys.readouterr().err


def test_no_url_is_exit_2_and_no_server_exit_5(run, server, capsys):
    assert run(*ASK, "--url", "localhost") == 2
    assert "--url" in capsys.readouterr().err
    server.close()
    assert run(*ASK, "--url", server.url) == 5
    assert "GET /version failed" in capsys.readouterr().err
    server.close = lambda: None


@pytest.mark.parametrize("option", [("--url", "http://localhost:1"), ("--server",)])
def test_other_backends_have_no_servers(tmp_path, capsys, option):
    recipe = write_project(tmp_path)
    engines = ("--engines", str(tmp_path / "engines"))
    assert _run(["run", str(recipe), *engines, "--prompt", "t3", *option]) == 2
    assert "backend reference runs in this process" in capsys.readouterr().err


@pytest.mark.parametrize("way", [(), ("--server",)], ids=["in process", "server"])
def test_a_recipe_is_built_and_run_on_a_release(tmp_path, way):
    standin = install(tmp_path / "standin", "1.2.1", pytorch=True)
    (tmp_path / "target").symlink_to(checkpoint(0))
    (tmp_path / "toy.yaml").write_text(RECIPE)
    environment = os.environ | standin.environment()
    environment |= {"TRTSPEC_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "trtspec", "run", "toy.yaml", *ASK, "--json"]
    paths = os.pathsep.join([str(standin.site), os.getcwd()])
    done = subprocess.run(
        [*command, *way],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    row, last = map(json.loads, done.stdout.splitlines())
    assert row["tokens"] == greedy((3, 9, 4), 6)
    assert row["drafted"] is None
    figures, note = done.stderr.splitlines()[-2:]
    assert figures.startswith("6 tokens in ")
    assert note.startswith("acceptance ")
    assert last["acceptance"]["source"] in note
    assert ("starting trtllm-serve of TensorRT-LLM 1.2.1" in done.stderr) is bool(way)
