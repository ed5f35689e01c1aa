"""``trtspec bench`` from the command line: output, files and exit codes."""

from __future__ import annotations

import errno
import json
import os
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from tests.bench.fakes import FakeRunner
from trtspec.bench import conditions, measure
from trtspec.bench.result import load_result
from trtspec.cli import artifact as cli_artifact
from trtspec.cli.main import _run
from trtspec.recipe import load_recipe

RECIPE = """\
schema: trtspec/v1
name: toy
target: {model: ./target}
speculation: {method: ngram, draft_length: 3}
workload: {prompts: workload.jsonl, output_tokens: 5, concurrency: [1, 2]}
"""


class Bench:
    """A directory with a recipe, and the command on a scripted engine."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.runner = FakeRunner()
        self.opened = {}
        self.recipe = folder / "toy.yaml"
        self.recipe.write_text(RECIPE)
        prompts = [{"id": f"w{i}", "prompt": "x" * i} for i in range(1, 10)]
        workload = folder / "workload.jsonl"
        workload.write_text("\n".join(map(json.dumps, prompts)))
        self.path = folder / "engines" / "toy-abababababab"
        self.path.mkdir(parents=True)
        self.artifact = SimpleNamespace(
            path=self.path,
            name="toy",
            fingerprint="ab" * 32,
            recipe=load_recipe(self.recipe).recipe,
            workload=workload,
        )
        monkeypatch.setattr(cli_artifact, "open_or_build", self._open_or_build)
        module = SimpleNamespace(open_runner=self._open_runner)
        monkeypatch.setitem(sys.modules, "trtspec.reference.runner", module)
        monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
        measured = measure.measure
        monkeypatch.setattr(
            measure,
            "measure",
            lambda *args: measured(*args, clock=self.runner.clock),
        )

    def _open_or_build(self, path, engines, progress):
        self.opened["path"] = path
        return self.artifact

    def _open_runner(self, artifact, **options):
        self.opened |= options
        return self.runner

    def __call__(self, *arguments):
        return _run(["bench", str(self.recipe), *map(str, arguments)])

    @property
    def results(self):
        return sorted((self.path / "bench").glob("*"))


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


def test_a_recipe_is_measured_shown_and_kept(bench, capsys):
    assert bench() == 0
    shown = capsys.readouterr()
    assert "concurrency 1: speculation 1.50x output throughput" in shown.out
    assert "9/9 outputs identical -> faster" in shown.out
    (file,) = bench.results
    assert f"every sample: {file}" in shown.out
    result = load_result(file)
    assert result.settings.concurrency == (1, 2)
    assert len(result.samples) == 2 * 2 * 3 * 9
    assert result.recomputed() == result.cells
    assert bench.runner.closed


def test_progress_goes_to_stderr_one_line_per_block(bench, capsys):
    bench()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 * 8
    assert lines[0].startswith("concurrency 1, warm-up, off: 2 requests, 10 tokens")


def test_options_reach_the_engine_and_the_settings(bench, tmp_path):
    output = tmp_path / "deep" / "r.json"
    code = bench(
        *("--device", "cuda:1", "--threads", 2, "--output-tokens", 7),
        *("--concurrency", "4,1,4", "--repeats", 4, "--limit", 8),
        *("--output", output),
    )
    assert code == 0
    assert bench.opened["device"] == "cuda:1"
    assert bench.opened["threads"] == 2
    settings = load_result(output).settings
    assert settings.concurrency == (4, 1)
    assert (settings.output_tokens, settings.repeats) == (7, 4)
    assert load_result(output).prompts.count == 8
    assert not (bench.path / "bench").exists()


def test_other_prompts_can_be_named(bench, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(json.dumps({"prompt": "y" * i}) for i in range(1, 9)))
    assert bench("--prompts", other, "--concurrency", 1) == 0
    assert load_result(bench.results[0]).prompts.file == "other.jsonl"


def test_json_is_one_document_on_stdout(bench, capsys):
    assert bench("--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "trtspec/bench/v1"
    assert document["file"] == str(bench.results[0])
    assert [c["verdict"]["word"] for c in document["cells"]] == ["faster", "faster"]
    assert "samples" not in document


def test_too_few_prompts_end_with_the_exit_code_of_no_claim(bench, capsys):
    assert bench("--limit", 4) == 6
    shown = capsys.readouterr()
    assert "no claim (needs 3 blocks and 8 prompts, has 3 and 4)" in shown.out
    assert "no claim can be made" in shown.err
    assert len(bench.results) == 1


def test_one_concurrency_with_a_claim_is_enough_for_success(bench):
    noisy = {"w1/c2/on1": 40.0}
    bench.runner.factor = lambda request: noisy.get(request.id, 1.0)
    assert bench() == 0
    words = [c.verdict.word for c in load_result(bench.results[0]).cells if c.verdict]
    assert words == ["faster", "no claim"]


def test_a_failed_request_fails_the_command_but_not_the_other_cell(bench, capsys):
    bench.runner.before_advance = lambda r: r.cancel("w3/c2/on2")
    assert bench() == 5
    shown = capsys.readouterr()
    assert "concurrency 2: no numbers, a request failed: request w3/c2/on2" in shown.err
    assert "concurrency 1: speculation 1.50x" in shown.out
    assert load_result(bench.results[0]).cells[0].verdict is not None


def test_a_recipe_without_speculation_is_refused_before_building(bench, capsys):
    text = RECIPE.replace("{method: ngram, draft_length: 3}", "\n  method: none")
    bench.recipe.write_text(text)
    assert bench() == 2
    error = capsys.readouterr().err
    assert "toy.yaml:5: method: none is the off arm" in error
    assert bench.opened == {}


def test_an_artifact_without_speculation_is_refused(bench, capsys):
    off = bench.folder / "off.yaml"
    off.write_text(RECIPE.replace("{method: ngram, draft_length: 3}", "{method: none}"))
    bench.artifact.recipe = load_recipe(off).recipe
    assert _run(["bench", str(bench.path)]) == 2
    assert "nothing to compare" in capsys.readouterr().err
    assert "device" not in bench.opened


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--concurrency", "0"], "'0' is not a list"),
        (["--concurrency", "1,x"], "'1,x' is not a list"),
        (["--concurrency", ""], "'' is not a list"),
        (["--concurrency", "99"], "99 requests cannot be kept in flight"),
        (["--repeats", "0"], "--repeats"),
        (["--limit", "0"], "--limit"),
        (["--output-tokens", "0"], "--output-tokens"),
        (["--output-tokens", "128"], "128 output tokens leave no room"),
        (["--prompts", "nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_bad_input_ends_with_one_message_and_no_result(bench, capsys, arguments, words):
    assert bench(*arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert bench.results == []
    assert bench.runner.submitted == []


def test_bad_prompts_are_found_before_building(bench, tmp_path, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not json\n")
    assert bench("--prompts", bad) == 2
    os.mkfifo(tmp_path / "pipe")
    assert bench("--prompts", tmp_path / "pipe") == 2
    assert "must be a regular file" in capsys.readouterr().err
    assert bench.opened == {}


def test_a_result_that_cannot_be_written_is_found_before_measuring(
    bench, tmp_path, capsys
):
    (tmp_path / "file").write_text("in the way")
    assert bench("--output", tmp_path / "file" / "r.json") == 5
    assert "cannot be written" in capsys.readouterr().err
    assert bench.opened == {}


def test_an_output_that_is_no_regular_file_is_refused(bench, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for output in (tmp_path, tmp_path / "pipe", ""):
        assert bench("--output", output) == 2
        assert "--output" in capsys.readouterr().err
    assert bench.opened == {}
    assert (tmp_path / "pipe").is_fifo()


def test_an_output_that_is_a_link_stays_one(bench, tmp_path):
    (tmp_path / "link.json").symlink_to("real.json")
    assert bench("--output", tmp_path / "link.json") == 0
    assert (tmp_path / "link.json").is_symlink()
    assert load_result(tmp_path / "real.json").cells


def test_results_of_one_second_are_told_apart_by_the_process(bench):
    bench()
    assert bench.results[0].stem.endswith(f"Z-{os.getpid()}")


@pytest.mark.parametrize("arguments", [["--concurrency", 9], ["--limit", 1]])
def test_a_concurrency_is_refused_before_the_engine_is_loaded(bench, arguments):
    assert bench(*arguments) == 2
    assert "device" not in bench.opened


@pytest.fixture
def full_disk(monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("os.fsync", Mock(side_effect=full))


@pytest.mark.usefixtures("full_disk")
def test_json_is_printed_even_if_the_result_cannot_be_saved(bench, capsys):
    assert bench("--json") == 5
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["file"] is None
    assert len(document["cells"]) == 2
    assert "cannot be written: No space left on device" in shown.err
    assert bench.results == []


@pytest.mark.usefixtures("full_disk")
def test_the_table_is_printed_even_if_the_result_cannot_be_saved(bench, capsys):
    assert bench() == 5
    assert "concurrency 1: speculation 1.50x" in capsys.readouterr().out


def test_the_result_is_saved_even_if_nobody_reads_the_table(bench, monkeypatch):
    monkeypatch.setattr(
        "trtspec.bench.table.print_result", Mock(side_effect=BrokenPipeError)
    )
    assert bench() == 0
    assert load_result(bench.results[0]).cells


@pytest.mark.usefixtures("full_disk")
def test_a_failure_to_save_is_told_even_if_nobody_reads(bench, monkeypatch, capsys):
    monkeypatch.setattr(
        "trtspec.cli.bench.print_json", Mock(side_effect=BrokenPipeError)
    )
    assert bench("--json") == 5
    assert "cannot be written" in capsys.readouterr().err


def test_ctrl_c_leaves_no_result_and_ends_with_130(bench, capsys):
    def interrupt(runner):
        if len(runner.submitted) > 20:
            raise KeyboardInterrupt

    bench.runner.before_advance = interrupt
    assert bench() == 130
    assert "interrupted" in capsys.readouterr().err
    assert bench.results == []
    assert bench.runner.closed
