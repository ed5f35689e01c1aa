"""``trtspec run`` from a terminal's point of view."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from tests.build.projects import write_project
from tests.cli.forked import start, trtspec
from tests.trtllm.engine_recipes import recipe as engine_recipe
from tests.trtllm.machines import H200, bare_machine
from trtspec.cli import runners
from trtspec.cli.common import backend_for, require_available
from trtspec.cli.runners import runner_for
from trtspec.errors import BackendUnavailableError
from trtspec.trtllm.engine import run as engine_run


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    recipe = write_project(folder, prompts=("t3", "t4", "t5"))
    environment = os.environ | {
        "TRTSPEC_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
    }

    def run(*arguments, stdin=""):
        command = ["run", recipe, "--engines", folder / "engines", *arguments]
        return trtspec(
            [p if isinstance(p, bytes) else str(p) for p in command],
            stdin=stdin if isinstance(stdin, bytes) else stdin.encode(),
            environment=environment,
        )

    run.folder, run.environment, run.recipe = folder, environment, recipe
    return run


def lines(result):
    assert result.returncode == 0, result.stderr.decode()
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


def test_json_is_one_line_per_request_with_its_figures(project):
    file = project.folder / "prompts.jsonl"
    rows = lines(project("--raw", "--json", "--prompts", file))
    assert sorted(row["id"] for row in rows) == ["1", "2", "3"]
    for row in rows:
        assert row["output_tokens"] == len(row["tokens"]) == 8
        assert row["finish_reason"] == "length"
        assert row["speculation"] is True
        assert 0 < row["ttft_s"] < row["e2e_s"]


def test_the_off_arm_of_the_same_artifact_gives_the_same_tokens(project):
    arguments = ("--raw", "--json", "--prompt", "t3", "--max-tokens", "30")
    (on,) = lines(project(*arguments))
    (off,) = lines(project(*arguments, "--no-speculation"))
    assert on["tokens"] == off["tokens"]
    assert (off["drafted"], off["speculation"]) == (0, False)
    assert on["drafted"] > 0
    assert on["steps"] <= off["steps"]


def test_text_goes_to_stdout_and_figures_to_stderr(project):
    result = project("--raw", stdin="t3")
    (row,) = lines(project("--raw", "--json", stdin="t3"))
    assert result.stdout.decode() == row["text"] + "\n"
    assert "8 tokens in" in result.stderr.decode()


def test_an_artifact_directory_runs_like_its_recipe(project):
    (built,) = (project.folder / "engines").glob("tiny-*")
    by_artifact = trtspec(
        ["run", str(built), "--raw", "--json", "--prompt", "t3"],
        environment=project.environment,
    )
    (row,) = lines(by_artifact)
    (expected,) = lines(project("--raw", "--json", "--prompt", "t3"))
    assert row["tokens"] == expected["tokens"]


def test_a_seed_repeats_and_another_seed_differs(project):
    def sampled(seed):
        chosen = ("--temperature", "1", "--seed", seed, "--max-tokens", "30")
        (row,) = lines(project("--raw", "--json", "--prompt", "t3", *chosen))
        return row["tokens"]

    assert sampled("1") == sampled("1")
    assert sampled("1") != sampled("2")


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        ((), "", "stdin: the prompt is empty"),
        (("--prompt", " "), "", "--prompt 1: the prompt is empty"),
        ((), b"\xff\xfe", "stdin: not valid UTF-8 at byte 0"),
        (("--prompt", "t3"), "", "no chat template"),
        (("--raw", "--prompt", "t3", "--max-tokens", "48"), "", "max_total_tokens"),
        (("--prompt", "t3", "--prompts", "x.jsonl"), "", "not both"),
        (("--prompts", "nowhere.jsonl"), "", "nowhere.jsonl"),
        (("--prompt", "t3", "--stop", ""), "", "--stop"),
        (("--temperature", "-1"), "", "--temperature"),
        (("--prompt", "t3", "--temperature", "nan"), "", "--temperature"),
        (("--prompt", "t3", "--top-p", "nan"), "", "--top-p"),
        (("--prompt", b"\xff"), "", "--prompt 1: not valid UTF-8"),
        (("--prompt", "t3", "--stop", b"\xff"), "", "--stop: not valid UTF-8"),
        (("--raw", "--prompt", "t3", "--threads", "100000"), "", "100000 threads"),
        (("--prompt", "t3", "--engines", ""), "", "--engines"),
        (("--promt", "t3"), "", "--promt"),
    ],
)
def test_wrong_input_is_one_message_and_exit_2(project, arguments, stdin, message):
    result = project(*arguments, stdin=stdin)
    errors = result.stderr.decode()
    assert result.returncode == 2, errors
    assert message in errors
    assert "Traceback" not in errors
    assert result.stdout == b""


def test_every_prompt_beyond_the_limit_is_named(project):
    long = project.folder / "long.jsonl"
    chat = '{"id": "%s", "prompt": "%s"}\n'
    # without a pre-tokenizer a text is one token: only the output can be too long
    long.write_text(chat % ("a", "t3") + chat % ("b", "t4"))
    result = project("--raw", "--prompts", long, "--max-tokens", "48")
    errors = result.stderr.decode()
    assert result.returncode == 2
    assert "prompt a: 1 prompt tokens and 48 output tokens" in errors
    assert "prompt b: 1 prompt tokens and 48 output tokens" in errors


def test_prompts_may_come_through_a_pipe(project):
    """Shells make one of ``--prompts <(command)``."""
    pipe = project.folder / "pipe"
    os.mkfifo(pipe)
    feeder = subprocess.Popen(["sh", "-c", f'echo \'{{"prompt": "t3"}}\' > {pipe}'])
    (row,) = lines(project("--raw", "--json", "--prompts", pipe))
    feeder.wait()
    assert row["output_tokens"] == 8


def test_a_device_that_is_not_here_is_exit_4(project):
    result = project("--raw", "--prompt", "t3", "--device", "tpu")
    assert result.returncode == 4
    assert "allowed: cpu" in result.stderr.decode()


def begin(project, prompts, stdout, stderr):
    """Run a file's prompts, writing to a descriptor, which is closed here."""
    engines = str(project.folder / "engines")
    arguments = ["--engines", engines, "--raw", "--json", "--prompts", str(prompts)]
    command = ["run", str(project.recipe), *arguments]
    process = start(command, stdout, stderr.fileno(), project.environment)
    os.close(stdout)
    return process


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")],
)
def test_a_signal_while_output_streams_ends_it_without_a_traceback(
    project, number, code, word
):
    """Wait until output streams, then send what Ctrl-C or ``kill`` sends."""
    endless = project.folder / "endless.jsonl"
    row = '{"id": "%d", "prompt": "t3"}\n'
    endless.write_text("".join(row % i for i in range(5000)))
    errors = project.folder / f"{code}.txt"
    output, stdout = os.pipe()
    with open(output, "rb") as lines, errors.open("wb") as stderr:
        process = begin(project, endless, stdout, stderr)
        assert lines.readline()
        os.kill(process.pid, number)
        lines.read()
        process.join(240)
    assert process.exitcode == code
    assert word in errors.read_bytes()
    assert b"Traceback" not in errors.read_bytes()


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.3])
def test_interrupt_at_any_moment_shows_no_traceback(project, delay):
    begin = "import trtspec.__main__ as m; print('go', flush=True); m.run()"
    process = subprocess.Popen(
        [sys.executable, "-c", begin, "run", str(project.recipe), "--prompt", "t3"],
        cwd=project.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=project.environment,
    )
    process.stdout.readline()
    time.sleep(0.01 + delay)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=240)
    assert process.returncode in (130, -signal.SIGINT)
    assert b"Traceback" not in errors


def test_a_reader_that_goes_away_is_no_error(project):
    file, errors = project.folder / "prompts.jsonl", project.folder / "gone.txt"
    reader, stdout = os.pipe()
    os.close(reader)
    with errors.open("wb") as stderr:
        process = begin(project, file, stdout, stderr)
        process.join(240)
    assert b"Traceback" not in errors.read_bytes()
    assert process.exitcode == 0, errors.read_text()


def test_a_shorter_draft_is_proposed_if_it_is_asked_for(project):
    whole = lines(project("--raw", "--prompt", "t3 t4 t3", "--json"))
    short = lines(
        project("--raw", "--prompt", "t3 t4 t3", "--json", "--draft-length", 1)
    )
    assert short[0]["tokens"] == whole[0]["tokens"]
    assert short[0]["drafted"] <= short[0]["steps"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--draft-length", 99), ("99 tokens is longer", "built for: 2", "request 1")),
        (("--draft-length", 300), ("--draft-length", "256")),
        (("--lookahead", 2, 2, 1), ("--lookahead", "ngram has no lookahead sizes")),
        (("--draft-length", 99), ("or build with a larger speculation.draft_length",)),
    ],
)
def test_drafts_beyond_what_was_built_are_refused_with_both_values(
    project, options, words
):
    result = project("--raw", "--prompt", "t3", *options)
    assert result.returncode == 2
    for word in words:
        assert word in result.stderr.decode()


def test_built_engines_run_without_the_builder(monkeypatch, tmp_path):
    bare_machine(monkeypatch, tmp_path, gpus=[H200]).install(
        "1.2.1", without=["trtllm-build"]
    )
    backend = backend_for(engine_recipe("none"))
    assert backend.installation.builder is None
    with pytest.raises(BackendUnavailableError, match="has no builder"):
        require_available(backend, engine_recipe("none"))
    artifact = SimpleNamespace(recipe=engine_recipe("none"))
    opened = []
    monkeypatch.setattr(runners, "reserve_stdout", lambda: None)
    monkeypatch.setattr(
        engine_run, "open_runner", lambda *given: opened.append(given) or "runner"
    )
    assert runner_for(artifact, device=None, threads=None) == "runner"
    assert [given[0] for given in opened] == [artifact]
