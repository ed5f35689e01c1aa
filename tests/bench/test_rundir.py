"""A run's directory: whole block by block, and enough to compute all again."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from tests.bench.fakes import FakeRunner, arms, block, no_resources, plan, run, sample
from trtspec.bench.measure import Session, measure
from trtspec.bench.records import Failure
from trtspec.bench.result import BenchResult, json_schema
from trtspec.bench.rundir import (
    BLOCKS,
    PLAN,
    RESULT,
    SAMPLES,
    RunDirectory,
    load_raw,
    load_run,
    result_of,
)
from trtspec.errors import UsageError


@pytest.fixture
def noisy(tmp_path):
    """A run in which nothing is equal by design, with a failed load."""
    random = np.random.default_rng(4)
    runner = FakeRunner(factor=lambda request: float(random.uniform(0.7, 1.4)))
    runner.before_advance = lambda r: r.cancel("p2/c2/off/1")
    return run(runner, plan(9, concurrency=(1, 2, 3)), tmp_path / "noisy")


def test_a_run_survives_its_files(noisy):
    loaded = load_run(noisy.path)
    assert loaded.result == noisy.result
    assert list(loaded.raw.samples) == list(noisy.raw.samples)
    assert list(loaded.raw.blocks) == list(noisy.raw.blocks)
    assert load_run(noisy.path / RESULT).result == noisy.result


def test_the_result_follows_from_the_raw_records_of_the_files(noisy):
    loaded = load_run(noisy.path)
    again = result_of(loaded.result.plan, loaded.raw, partial=False)
    assert again.cells == noisy.result.cells
    assert again.cells[1].failures


def test_a_changed_sample_changes_the_recomputed_result(noisy):
    first = noisy.raw.samples[0].model_copy(update={"e2e": 1000.0})
    forged = type(noisy.raw)(noisy.raw.blocks, [first, *noisy.raw.samples[1:]], [])
    assert result_of(noisy.result.plan, forged, partial=False).cells != (
        noisy.result.cells
    )


def test_the_files_say_their_schema_and_hold_every_sample(noisy):
    document = json.loads((noisy.path / RESULT).read_text())
    assert document["schema"] == "trtspec/bench/v2"
    lines = (noisy.path / SAMPLES).read_text().splitlines()
    # arms, blocks, prompts, whole loads; of the failed load the warm-up only
    assert len(lines) == 2 * 3 * 9 * 2
    keys = {"arm", "block", "load", "prompt_id", "category", "prompt_tokens"}
    keys |= {"output_tokens", "ttft", "tpot", "e2e", "chunks", "draft_steps", "tokens"}
    assert keys <= set(json.loads(lines[0]))
    plan_ = document["plan"]
    assert plan_["settings"]["warm_up_blocks"] == 1
    assert plan_["prompts"]["sha256"] == "cd" * 32
    assert plan_["conditions"]["hardware"]["cpu"] == "Toy CPU"
    assert json.loads((noisy.path / PLAN).read_text()) == plan_


def test_a_result_follows_the_published_schema(noisy):
    schema = json_schema()
    assert schema["properties"]["schema"]["const"] == "trtspec/bench/v2"
    document = json.loads((noisy.path / RESULT).read_text())
    assert set(document) == set(schema["properties"])
    assert BenchResult.model_validate(document) == noisy.result


def test_percentiles_can_be_had_from_the_samples_by_hand(noisy):
    e2e = [s.e2e for s in noisy.raw.samples if s.arm == "on" and s.load == "c1"]
    arm = noisy.result.cells[0].arms["on"]
    found = arm.percentiles["e2e"]
    assert found.p50 is not None
    assert found.p95 is not None
    assert found.p50.value == pytest.approx(float(np.percentile(e2e, 50)))
    assert found.p95.value == pytest.approx(float(np.percentile(e2e, 95)))
    assert found.p99 is None
    rates = [
        b.output_tokens / b.wall_seconds
        for b in noisy.raw.blocks
        if b.arm == "on" and b.load == "c1" and not b.warm_up
    ]
    assert arm.values["output_throughput"] == pytest.approx(np.median(rates))


def test_the_throughput_ratio_is_that_of_wall_times(noisy):
    """Splitting wall time by request changes nothing about the estimate."""
    for cell in (noisy.result.cells[0], noisy.result.cells[2]):
        rate = {
            (b.arm, b.block): b.output_tokens / b.wall_seconds
            for b in noisy.raw.blocks
            if b.load == cell.load.key and not b.warm_up
        }
        logs = [np.log(rate["on", n] / rate["off", n]) for n in (1, 2, 3)]
        ratio = cell.comparisons["on"].ratios["output_throughput"]
        assert ratio is not None
        assert ratio.estimate == pytest.approx(np.exp(np.mean(logs)))


def interrupted(path, after: int, count: int = 8):
    """A run that is stopped when so many requests were sent."""

    def stop(runner):
        if len(runner.submitted) > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FakeRunner(before_advance=stop), plan(count, concurrency=(1, 2)), path)


def resumed(path, count: int = 8):
    directory = RunDirectory.reopen(path)
    runner = FakeRunner()
    session = Session(
        directory, arms(runner, directory.plan, count), resources=no_resources
    )
    return measure(session), runner


def test_a_stopped_run_goes_on_and_ends_like_one_that_was_not(tmp_path):
    interrupted(tmp_path / "stopped", after=30)
    assert load_run(tmp_path / "stopped").result.partial
    done, runner = resumed(tmp_path / "stopped")
    whole = run(FakeRunner(), plan(8, concurrency=(1, 2)), tmp_path / "whole")
    assert not done.result.partial
    assert done.result.cells == whole.result.cells
    places = [(b.load, b.arm, b.block) for b in done.raw.blocks if not b.warm_up]
    assert len(places) == len(set(places)) == 12
    # the warm-up runs again, the whole blocks do not
    assert {r.id for r in runner.submitted} >= {"p1/c1/off/0", "p1/c1/on/0"}
    assert "p1/c1/off/1" not in {r.id for r in runner.submitted}
    assert load_run(tmp_path / "stopped").result == done.result


def test_a_partial_result_compares_whole_rounds_only(tmp_path):
    interrupted(tmp_path / "r", after=30)  # on has block 2, off has not
    (one, two) = load_run(tmp_path / "r").result.cells
    assert (one.blocks, one.incomplete) == (1, True)
    assert one.comparisons["on"].verdict.word == "no claim"
    assert (two.blocks, two.incomplete, two.comparisons) == (0, True, {})


def test_of_a_killed_run_what_it_wrote_is_read(tmp_path):
    interrupted(tmp_path / "r", after=30)
    (tmp_path / "r" / RESULT).unlink()
    with (tmp_path / "r" / SAMPLES).open("a") as file:
        file.write('{"arm": "off", "blo')  # the kill came here
    killed = load_run(tmp_path / "r")
    assert killed.result.partial
    assert killed.result.cells[0].blocks == 1
    done, _ = resumed(tmp_path / "r")
    assert not done.result.partial


def test_samples_of_a_block_that_was_not_finished_do_not_count(tmp_path):
    interrupted(tmp_path / "r", after=30)
    blocks = (tmp_path / "r" / BLOCKS).read_text().splitlines(keepends=True)
    (tmp_path / "r" / BLOCKS).write_text("".join(blocks[:-1]))
    raw = load_run(tmp_path / "r").raw
    whole = {(b.arm, b.block) for b in raw.blocks}
    assert {(s.arm, s.block) for s in raw.samples} <= whole


def test_a_directory_with_a_run_is_not_written_over(noisy):
    with pytest.raises(UsageError, match="holds a run already"):
        RunDirectory.create(noisy.path, plan(2))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (RESULT, "", "document"),
        (RESULT, "{}", "Field required"),
        (RESULT, '{"schema": "trtspec/bench/v1"}', "schema"),
        (PLAN, "[1]", "document"),
        (SAMPLES, "nonsense\n", "samples.jsonl:1"),
        (BLOCKS, '{"average": 1.3}\n', "blocks.jsonl:1"),
    ],
)
def test_files_that_are_none_of_ours_are_refused(tmp_path, name, text, words):
    run(FakeRunner(), plan(2, repeats=1), tmp_path / "r")
    (tmp_path / "r" / name).write_text(text)
    with pytest.raises(UsageError, match=words):
        load_run(tmp_path / "r")


def test_a_place_without_a_run_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is no run of trtspec bench"):
        load_run(tmp_path)
    run(FakeRunner(), plan(2, repeats=1), tmp_path / "r")
    (tmp_path / "r" / PLAN).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load_run(tmp_path / "r")


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_ends_the_run_with_what_it_has(tmp_path, monkeypatch):
    """The result is still computed from what is in memory."""
    runner = FakeRunner()

    def fill(running):
        if len(runner.submitted) > 30:
            monkeypatch.setattr("os.fsync", full)

    runner.before_advance = fill
    done = run(runner, plan(8), tmp_path / "r")
    assert done.unsaved is not None
    assert "No space left on device" in str(done.unsaved)
    assert done.result.partial
    assert done.result.cells[0].blocks == 1
    assert not (tmp_path / "r" / RESULT).exists()
    monkeypatch.undo()
    assert load_run(tmp_path / "r").result.cells[0].blocks == 1


def test_the_log_has_the_time_of_every_line(tmp_path):
    directory = RunDirectory.create(tmp_path / "r", plan(2))
    directory.note("first")
    directory.note("second")
    lines = (tmp_path / "r" / "log.txt").read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == ["first", "second"]


LINE_ENDS = "a\u2028b\u2029c\x85d\x1ce\x0bf"
"""What ends a line for ``str.splitlines`` and not for JSON."""


def test_texts_with_every_sign_that_ends_a_line_are_read_back(tmp_path):
    of = plan(8, repeats=1)
    directory = RunDirectory.create(tmp_path / "r", of)
    texts = [sample(arm=a, prompt_id=LINE_ENDS, text=LINE_ENDS) for a in ("off", "on")]
    for one in texts:
        directory.add_block(block(arm=one.arm), [one])
    directory.add_failures(
        [Failure(arm="on", block=1, load="c9", prompt_id="p", what=LINE_ENDS)]
    )
    directory.finish(partial=False)
    raw = load_run(tmp_path / "r").raw
    assert list(raw.samples) == texts
    assert raw.failures[0].what == LINE_ENDS
    assert list(RunDirectory.reopen(tmp_path / "r").raw.samples) == texts


IN_A_LOCALE = """
import sys
from pathlib import Path
from tests.bench.fakes import block, plan, sample
from trtspec.bench.rundir import RunDirectory
directory = RunDirectory.create(Path(sys.argv[1]), plan(8, repeats=1))
odd = sample(prompt_id="gr\\u00f6\\u00dfe \\u4f60", text="\\U0001f600")
directory.add_block(block(), [odd])
directory.note("gr\\u00f6\\u00dfe")
"""


def test_records_are_utf_8_whatever_the_locale_is(tmp_path):
    """Where Python's own encoding is ASCII, as in a bare container."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", IN_A_LOCALE, str(tmp_path / "r")],
        env={**os.environ, **plain},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (read,) = load_raw(tmp_path / "r").samples
    assert (read.prompt_id, read.text) == ("größe 你", "\U0001f600")


def test_a_block_that_lost_a_sample_is_measured_again(tmp_path):
    whole = run(FakeRunner(), plan(8, concurrency=(1, 2)), tmp_path / "r")
    lines = (tmp_path / "r" / SAMPLES).read_text().splitlines(keepends=True)
    (tmp_path / "r" / SAMPLES).write_text("".join(lines[:3] + lines[4:]))
    with pytest.raises(UsageError, match=r"lacks records that result\.json counts"):
        load_run(tmp_path / "r")
    (tmp_path / "r" / RESULT).unlink()
    killed = load_run(tmp_path / "r").result
    assert killed.partial
    assert killed.cells[0].blocks == 2
    done, runner = resumed(tmp_path / "r")
    assert done.result.cells == whole.result.cells
    counted = {r.id.rpartition("/")[2] for r in runner.submitted}
    assert counted == {"0", "1"}  # the warm-up, and the block that was not whole


def test_samples_that_are_not_there_at_all_are_asked_for(tmp_path):
    run(FakeRunner(), plan(8), tmp_path / "r")
    (tmp_path / "r" / SAMPLES).unlink()
    with pytest.raises(UsageError, match="put them back"):
        load_run(tmp_path / "r")


@pytest.mark.parametrize("name", [BLOCKS, SAMPLES])
def test_records_that_are_there_twice_do_not_count_twice(tmp_path, name):
    """Two processes in one directory, or a file that was appended to itself."""
    run(FakeRunner(), plan(8), tmp_path / "r")
    with (tmp_path / "r" / name).open("a") as file:
        file.write((tmp_path / "r" / name).read_text())
    with pytest.raises(UsageError, match=rf"{name}: c1 / off / 1.* is there twice"):
        load_run(tmp_path / "r")


def test_a_result_that_was_edited_has_no_say(tmp_path):
    done = run(FakeRunner(), plan(8), tmp_path / "r")
    assert not load_run(tmp_path / "r").file_differs
    text = (tmp_path / "r" / RESULT).read_text()
    assert text.count('"estimate"') > 1
    forged = re.sub(r'"estimate": 1\.\d+', '"estimate": 9.5', text, count=1)
    assert forged != text
    (tmp_path / "r" / RESULT).write_text(forged)
    read = load_run(tmp_path / "r")
    assert read.file_differs
    assert read.result.cells == done.result.cells


def test_the_last_digits_of_another_machine_are_no_edit(tmp_path):
    run(FakeRunner(), plan(8), tmp_path / "r")
    document = json.loads((tmp_path / "r" / RESULT).read_text())
    ratio = document["cells"][0]["comparisons"]["on"]["ratios"]["output_throughput"]
    ratio["estimate"] *= 1 + 1e-12
    verdict = document["cells"][0]["comparisons"]["on"]["verdict"]
    verdict["reason"] = "as another version put it"
    (tmp_path / "r" / RESULT).write_text(json.dumps(document))
    assert not load_run(tmp_path / "r").file_differs


def test_a_partial_result_does_not_hide_what_was_measured_after_it(tmp_path):
    """Stopped, gone on with, then killed: result.json is that of the first stop."""
    interrupted(tmp_path / "r", after=30)
    old = (tmp_path / "r" / RESULT).read_text()
    done, _ = resumed(tmp_path / "r")
    (tmp_path / "r" / RESULT).write_text(old)
    read = load_run(tmp_path / "r").result
    assert not read.partial
    assert read.cells == done.result.cells


def test_a_killed_run_ended_with_its_last_block_not_when_it_is_read(tmp_path):
    directory = RunDirectory.create(tmp_path / "r", plan(8))
    assert load_run(tmp_path / "r").result.finished == "2026-11-29T00:00:00+00:00"
    directory.add_block(block(started="2026-11-29T01:00:00.500+00:00"), [sample()])
    read = load_run(tmp_path / "r").result
    assert read.finished == "2026-11-29T01:00:10+00:00"  # 10 seconds of wall time
    directory.add_block(block(arm="off", started="no time"), [sample(arm="off")])
    assert load_run(tmp_path / "r").result.finished == read.finished


def test_a_line_of_the_log_stays_one(tmp_path):
    directory = RunDirectory.create(tmp_path / "r", plan(2))
    directory.note("given up: line one\n2026-11-29 line two")
    assert len((tmp_path / "r" / "log.txt").read_text().splitlines()) == 1
