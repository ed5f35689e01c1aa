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
from trtspec.bench import conditions
from trtspec.bench import in_process as in_process_module
from trtspec.bench.plan import ladder
from trtspec.bench.rundir import load_run
from trtspec.cli import artifact as cli_artifact
from trtspec.cli import bench_run as cli_bench_run
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
            manifest=SimpleNamespace(source={}),
        )
        monkeypatch.setattr(cli_artifact, "open_or_build", self._open_or_build)
        module = SimpleNamespace(
            open_runner=self._open_runner,
            ReferenceRunner=type(None),
            same_target=lambda one, other: False,
        )
        monkeypatch.setitem(sys.modules, "trtspec.reference.runner", module)
        monkeypatch.setattr(conditions, "IDLE_SECONDS", 0.01)
        monkeypatch.setattr(cli_bench_run, "InProcess", self._driver)
        monkeypatch.chdir(folder)

    def _open_or_build(self, path, engines, progress):
        self.opened["path"] = path
        return self.artifact

    def _open_runner(self, artifact, **options):
        self.opened |= options
        return self.runner

    def _driver(self, runner):
        clock = self.runner.clock
        return in_process_module.InProcess(runner, clock=clock, sleep=clock.sleep)

    def __call__(self, *arguments):
        few = () if "--repeats" in arguments else ("--repeats", "3")
        return _run(["bench", str(self.recipe), *few, *map(str, arguments)])

    @property
    def runs(self):
        return sorted((self.folder / "runs").glob("*"))

    @property
    def result(self):
        (run,) = self.runs
        return load_run(run).result


@pytest.fixture
def bench(tmp_path, monkeypatch):
    return Bench(tmp_path, monkeypatch)


def test_a_recipe_is_measured_shown_and_kept(bench, capsys):
    assert bench() == 0
    shown = capsys.readouterr()
    assert "concurrency 1, on: 1.50x output throughput" in shown.out
    assert "9/9 outputs identical -> faster" in shown.out
    (run,) = bench.runs
    assert f"every sample: {run.relative_to(bench.folder)}" in shown.out
    done = load_run(run)
    assert done.result.plan.settings.loads == ladder((1, 2))
    # off, off again and on; three blocks; two loads
    assert len(done.raw.samples) == 3 * 3 * 2 * 9
    assert bench.runner.closed
    assert run.name.endswith("Z-toy")


def test_progress_goes_to_stderr_and_to_the_log_one_line_per_block(bench, capsys):
    bench()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 * (2 + 9)
    assert lines[0].startswith("concurrency 1, warm-up, off: 2 requests, 10 tokens")
    log = (bench.runs[0] / "log.txt").read_text().splitlines()
    assert [line.partition(" ")[2] for line in log] == lines


def test_options_reach_the_engine_and_the_settings(bench, tmp_path):
    output = tmp_path / "deep" / "r"
    code = bench(
        *("--device", "cuda:1", "--threads", 2, "--output-tokens", 7),
        *("--concurrency", "4,1,4", "--repeats", 4, "--limit", 8),
        *("--fixed-length", "--no-control", "--goodput", "ttft=0.6,e2e=9"),
        *("--output", output),
    )
    assert code == 0
    assert bench.opened["device"] == "cuda:1"
    assert bench.opened["threads"] == 2
    plan = load_run(output).result.plan
    settings = plan.settings
    assert settings.loads == ladder((4, 1))
    assert (settings.output_tokens, settings.repeats) == (7, 4)
    assert settings.goodput == {"ttft": 0.6, "e2e": 9.0}
    assert (settings.fixed_length, settings.control) == (True, False)
    assert plan.prompts.count == 8
    assert plan.command[1:3] == ("--device", "cuda:1")
    assert bench.runs == []


def test_an_open_loop_can_be_asked_for(bench):
    bench("--rate", "0.1,0.2", "--arrivals", "fixed", "--limit", 8)
    keys = [load.key for load in bench.result.plan.settings.loads]
    assert keys == ["fixed0.1", "fixed0.2"]


def test_draft_lengths_are_arms_of_their_own(bench, capsys):
    assert bench("--draft-length", "1,3", "--concurrency", 1) == 0
    names = [arm.name for arm in bench.result.plan.arms]
    assert names == ["off", "off again", "draft length 1", "draft length 3"]
    assert "concurrency 1, draft length 3: " in capsys.readouterr().out


def test_other_prompts_can_be_named(bench, tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(json.dumps({"prompt": "y" * i}) for i in range(1, 9)))
    assert bench("--prompts", other, "--concurrency", 1) == 0
    assert bench.result.plan.prompts.file == "other.jsonl"


def test_json_is_one_document_on_stdout(bench, capsys):
    assert bench("--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "trtspec/bench/v2"
    assert document["run"] == str(bench.runs[0].relative_to(bench.folder))
    words = [c["comparisons"]["on"]["verdict"]["word"] for c in document["cells"]]
    assert words == ["faster", "faster"]
    assert "samples" not in document


def test_too_few_prompts_end_with_the_exit_code_of_no_claim(bench, capsys):
    assert bench("--limit", 4) == 6
    shown = capsys.readouterr()
    assert "no claim (needs 3 blocks and 8 prompts, has 3 and 4)" in shown.out
    assert "no claim can be made" in shown.err
    assert len(bench.runs) == 1


def test_one_load_with_a_claim_is_enough_for_success(bench):
    noisy = {"w1/c2/on/1": 40.0}
    bench.runner.factor = lambda request: noisy.get(request.id, 1.0)
    assert bench() == 0
    words = [c.comparisons["on"].verdict.word for c in bench.result.cells]
    assert words == ["faster", "no claim"]


def test_a_failed_request_fails_the_command_but_not_the_other_load(bench, capsys):
    bench.runner.before_advance = lambda r: r.cancel("w3/c2/on/2")
    assert bench() == 5
    shown = capsys.readouterr()
    assert "concurrency 2: no numbers, 1 requests of arm on failed; w3" in shown.err
    assert "concurrency 1, on: 1.50x" in shown.out
    assert bench.result.cells[0].comparisons


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
        (["--rate", "0"], "'0' is not a list of numbers above 0"),
        (["--rate", "inf"], "'inf' is not a list"),
        (["--draft-length", "9"], "was built for drafts of up to 3 tokens"),
        (["--goodput", "ttft"], "'ttft' is no limit in seconds"),
        (["--goodput", "itl=2"], "'itl=2' is no limit in seconds"),
        (["--repeats", "0"], "--repeats"),
        (["--limit", "0"], "--limit"),
        (["--output-tokens", "0"], "--output-tokens"),
        (["--output-tokens", "128"], "128 output tokens leave no room"),
        (["--prompts", "nothing.jsonl"], "nothing.jsonl"),
        (["--by-category"], "prompts have no category"),
        (["--url", "ftp://x"], "is no address"),
        (["--url", "http://x"], "either artifacts or recipes, or --url"),
        (["--resume", "runs/x"], "artifacts, repeats beside --resume"),
    ],
)
def test_bad_input_ends_with_one_message_and_no_run(bench, capsys, arguments, words):
    assert bench(*arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert bench.runs == []
    assert bench.runner.submitted == []


def test_nothing_to_measure_is_a_usage_error(bench, capsys):
    assert _run(["bench"]) == 2
    assert "nothing to measure" in capsys.readouterr().err


def test_bad_prompts_are_found_before_building(bench, tmp_path, capsys):
    bad = tmp_path / "bad.jsonl"
    bad.write_text("not json\n")
    assert bench("--prompts", bad) == 2
    os.mkfifo(tmp_path / "pipe")
    assert bench("--prompts", tmp_path / "pipe") == 2
    assert "must be a regular file" in capsys.readouterr().err
    assert bench.opened == {}


def test_a_place_that_cannot_be_written_is_found_before_measuring(
    bench, tmp_path, capsys
):
    (tmp_path / "file").write_text("in the way")
    assert bench("--output", tmp_path / "file" / "r") == 5
    assert "cannot be written" in capsys.readouterr().err
    assert bench.opened == {}


def test_an_output_that_is_no_directory_is_refused(bench, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for output in (tmp_path / "pipe", ""):
        assert bench("--output", output) == 2
        assert "--output" in capsys.readouterr().err
    assert bench.opened == {}


def test_a_run_is_not_written_over(bench, tmp_path, capsys):
    assert bench("--output", tmp_path / "r") == 0
    before = (tmp_path / "r" / "result.json").read_bytes()
    capsys.readouterr()
    assert bench("--output", tmp_path / "r") == 2
    assert "holds a run already" in capsys.readouterr().err
    assert (tmp_path / "r" / "result.json").read_bytes() == before


@pytest.mark.parametrize("arguments", [["--concurrency", 9], ["--limit", 1]])
def test_a_concurrency_is_refused_before_the_engine_is_loaded(bench, arguments):
    assert bench(*arguments) == 2
    assert "device" not in bench.opened


def fill_disk(bench, monkeypatch, after):
    """Let the disk be full once so many requests were sent."""
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def check(runner):
        if len(runner.submitted) > after:
            monkeypatch.setattr("os.fsync", Mock(side_effect=full))

    bench.runner.before_advance = check


def test_json_is_printed_even_if_the_rest_cannot_be_saved(bench, capsys, monkeypatch):
    fill_disk(bench, monkeypatch, 120)
    assert bench("--json") == 5
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["run"] is None
    assert document["partial"]
    assert document["cells"][0]["comparisons"]["on"]["verdict"]["word"] == "faster"
    assert "cannot be written: No space left on device" in shown.err


def test_the_table_is_printed_even_if_the_rest_cannot_be_saved(
    bench, capsys, monkeypatch
):
    fill_disk(bench, monkeypatch, 120)
    assert bench() == 5
    shown = capsys.readouterr()
    assert "concurrency 1, on: 1.50x" in shown.out
    assert "warning: partial" in shown.out
    assert "every sample" not in shown.out


def test_the_run_is_saved_even_if_nobody_reads_the_table(bench, monkeypatch):
    monkeypatch.setattr(
        "trtspec.bench.table.print_result", Mock(side_effect=BrokenPipeError)
    )
    assert bench() == 0
    assert bench.result.cells


def test_a_failure_to_save_is_told_even_if_nobody_reads(bench, monkeypatch, capsys):
    fill_disk(bench, monkeypatch, 120)
    monkeypatch.setattr(
        "trtspec.cli.bench.print_json", Mock(side_effect=BrokenPipeError)
    )
    assert bench("--json") == 5
    assert "cannot be written" in capsys.readouterr().err


def test_forced_acceptance_runs_if_asked_and_gives_no_speed_up(
    bench, capsys, monkeypatch
):
    monkeypatch.setenv("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "1.6")
    assert bench() == 2
    assert bench.runs == []
    assert bench("--forced") == 6
    shown = capsys.readouterr().out
    verdicts = [line for line in shown.splitlines() if "-> no claim" in line]
    assert len(verdicts) == 2
    assert all("acceptance length 2.6" in line for line in verdicts)
    assert "warning: $TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS" in shown
    assert "1.50x" not in shown
    comparison = bench.result.cells[0].comparisons["on"]
    assert set(comparison.ratios.values()) == {None}


def stopped(bench):
    """Stop the run in its second round, as Ctrl-C would."""

    def interrupt(runner):
        if len(runner.submitted) > 40:
            runner.before_advance = lambda r: None
            raise KeyboardInterrupt

    bench.runner.before_advance = interrupt
    assert bench("--repeats", 4) == 130
    return bench.runs[0].relative_to(bench.folder)


def test_ctrl_c_keeps_what_was_measured_and_says_how_to_go_on(bench, capsys):
    run = stopped(bench)
    error = capsys.readouterr().err
    assert f"what was measured is kept; go on: trtspec bench --resume {run}" in error
    assert bench.result.partial
    assert bench.runner.closed


def test_a_stopped_run_goes_on_as_it_was_begun(bench, capsys):
    run = stopped(bench)
    sent = len(bench.runner.submitted)
    assert _run(["bench", "--resume", str(run)]) == 0
    assert not bench.result.partial
    assert bench.result.plan.settings.repeats == 4
    assert [c.blocks for c in bench.result.cells] == [4, 4]
    # the whole blocks are not run again
    again = [r.id for r in bench.runner.submitted[sent:]]
    assert "w1/c1/off/1" not in again
    assert "w1/c1/off/4" in again
    assert "9/9 outputs identical -> faster" in capsys.readouterr().out


def test_a_run_of_something_else_does_not_go_on(bench, capsys):
    run = stopped(bench)
    capsys.readouterr()
    bench.artifact.fingerprint = "cd" * 32
    assert _run(["bench", "--resume", str(run)]) == 2
    assert "arms" in capsys.readouterr().err
    assert bench.result.partial


def test_a_complete_run_that_goes_on_measures_nothing(bench):
    assert bench("--output", "r") == 0
    sent = len(bench.runner.submitted)
    assert _run(["bench", "--resume", "r"]) == 0
    assert len(bench.runner.submitted) == sent


def test_a_run_that_is_there_is_refused_before_anything_is_loaded(bench, capsys):
    (bench.folder / "r").mkdir()
    (bench.folder / "r" / "plan.json").write_text("{}")
    assert bench("--output", "r") == 2
    assert "holds a run already" in capsys.readouterr().err
    assert bench.opened == {}


def test_runs_that_cannot_be_written_are_found_before_anything_is_loaded(bench, capsys):
    (bench.folder / "runs").write_text("in the way")
    assert bench() == 5
    assert "cannot be written" in capsys.readouterr().err
    assert bench.opened == {}


def test_two_runs_of_one_second_have_directories_of_their_own(bench, monkeypatch):
    monkeypatch.setattr(cli_bench_run, "run_name", lambda name: f"20261130T-{name}")
    assert [bench(), bench(), bench()] == [0, 0, 0]
    names = [run.name for run in bench.runs]
    assert names == ["20261130T-toy", "20261130T-toy-2", "20261130T-toy-3"]


def test_a_name_that_no_record_can_hold_is_refused(bench, capsys):
    os.rename(b"workload.jsonl", b"w\xff.jsonl")
    assert bench("--prompts", os.fsdecode(b"w\xff.jsonl")) == 2
    assert "no UTF-8" in capsys.readouterr().err
    assert bench.opened == {}


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--model", "m"], "--model: it is for servers"),
        (["--api", "completions"], "--api: it is for servers"),
        (["--arrivals", "fixed"], "--arrivals: fixed has no effect without --rate"),
    ],
)
def test_options_that_would_be_ignored_are_refused(bench, capsys, arguments, option):
    assert bench(*arguments) == 2
    assert option in capsys.readouterr().err
    assert bench.opened == {}


def test_a_complete_run_keeps_the_time_of_its_end(bench, monkeypatch):
    assert bench("--output", "r") == 0
    before = (bench.folder / "r" / "result.json").read_bytes()
    monkeypatch.setattr("trtspec.bench.rundir.now", lambda: "2099-01-01T00:00:00")
    assert _run(["bench", "--resume", "r"]) == 0
    assert (bench.folder / "r" / "result.json").read_bytes() == before


def test_odd_names_of_prompts_are_measured_shown_and_reported(bench, capsys):
    """Markup, line ends, HTML, terminal controls, and the largest emoji there is."""
    odd = "[/x] [red] :smile: \u2028\x85 <script>alert(1)</script> |`*_ 👩‍👩‍👧 "
    lines = [
        {"id": f"{odd}{i}", "category": f"{odd}{i % 2}", "prompt": "x" * (i + 1)}
        for i in range(9)
    ]
    (bench.folder / "p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    bench.runner.before_advance = lambda r: r.cancel(f"{odd}8/c1:{odd}0/on/2")
    assert bench("--prompts", "p.jsonl", "--by-category", "--concurrency", 1) == 5
    (run,) = bench.runs
    assert odd.split(maxsplit=1)[0] in capsys.readouterr().out
    assert _run(["report", str(run), "--html", "r.html", "--markdown", "r.md"]) == 0
    for name in ("r.html", "r.md"):
        assert "<script" not in (bench.folder / name).read_text()
