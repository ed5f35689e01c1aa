"""result.json: whole, loadable, and enough to compute every summary again."""

from __future__ import annotations

import errno
import json

import numpy as np
import pytest

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.result import load_result, save_result
from trtspec.errors import RunError, UsageError


@pytest.fixture(scope="module")
def noisy():
    """A result in which nothing is equal by design, with a failed cell."""
    random = np.random.default_rng(4)
    runner = FakeRunner(factor=lambda request: float(random.uniform(0.7, 1.4)))
    runner.before_advance = lambda r: r.cancel("p2/c2/off1")
    return run(runner, plan(9, concurrency=(1, 2, 3)))


def test_a_result_survives_the_file(noisy, tmp_path):
    file = tmp_path / "result.json"
    save_result(noisy, file)
    assert load_result(file) == noisy
    assert [p.name for p in tmp_path.iterdir()] == ["result.json"]


def test_summaries_follow_from_the_raw_records_of_the_file(noisy, tmp_path):
    file = tmp_path / "result.json"
    save_result(noisy, file)
    loaded = load_result(file)
    assert loaded.recomputed() == noisy.cells
    assert noisy.cells[1].failure is not None


def test_a_changed_sample_changes_the_recomputed_summary(noisy):
    first = noisy.samples[0].model_copy(update={"e2e": 1000.0})
    forged = noisy.model_copy(update={"samples": (first, *noisy.samples[1:])})
    assert forged.recomputed() != noisy.cells


def test_the_file_names_its_schema_and_every_raw_sample(noisy, tmp_path):
    file = tmp_path / "result.json"
    save_result(noisy, file)
    document = json.loads(file.read_text())
    assert document["schema"] == "trtspec/bench/v1"
    assert len(document["samples"]) == 2 * 3 * 9 * 2  # arms, blocks, prompts, cells
    keys = {
        "arm",
        "block",
        "concurrency",
        "prompt_id",
        "category",
        "prompt_tokens",
        "output_tokens",
        "ttft",
        "tpot",
        "e2e",
        "steps",
        "drafted",
        "accepted",
        "finish_reason",
        "tokens",
    }
    assert keys <= set(document["samples"][0])
    assert document["settings"]["warm_up_blocks"] == 1
    assert document["prompts"]["sha256"] == "cd" * 32
    assert document["conditions"]["hardware"]["cpu"] == "Toy CPU"


def test_percentiles_of_the_file_can_be_had_from_its_samples_by_hand(noisy):
    e2e = [s.e2e for s in noisy.samples if s.arm == "on" and s.concurrency == 1]
    cell = noisy.cells[0]
    assert cell.on is not None
    summary = cell.on.percentiles["e2e"]
    assert summary.p50 == pytest.approx(float(np.percentile(e2e, 50)))
    assert summary.p95 == pytest.approx(float(np.percentile(e2e, 95)))
    assert summary.p99 is None
    blocks = [b for b in noisy.blocks if b.arm == "on" and b.concurrency == 1]
    rates = [b.output_tokens / b.wall_seconds for b in blocks if not b.warm_up]
    assert cell.on.values["output_throughput"] == pytest.approx(np.median(rates))


def test_the_throughput_ratio_is_that_of_wall_times(noisy):
    """Splitting wall time by request changes nothing about the estimate."""
    for cell in (noisy.cells[0], noisy.cells[2]):
        rate = {
            (b.arm, b.block): b.output_tokens / b.wall_seconds
            for b in noisy.blocks
            if b.concurrency == cell.concurrency and not b.warm_up
        }
        logs = [np.log(rate["on", n] / rate["off", n]) for n in (1, 2, 3)]
        ratio = cell.ratios["output_throughput"]
        assert ratio is not None
        assert ratio.estimate == pytest.approx(np.exp(np.mean(logs)))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "document"),
        ("{}", "Field required"),
        ('{"schema": "trtspec/bench/v2"}', "schema"),
        ("[1]", "document"),
    ],
)
def test_another_document_is_refused(tmp_path, text, words):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=words):
        load_result(file)


def test_an_unknown_key_is_refused(noisy, tmp_path):
    file = tmp_path / "result.json"
    save_result(noisy, file)
    document = json.loads(file.read_text()) | {"average": 1.3}
    file.write_text(json.dumps(document))
    with pytest.raises(UsageError, match="average"):
        load_result(file)


def test_a_missing_or_binary_file_is_refused(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        load_result(tmp_path / "nothing.json")
    binary = tmp_path / "binary.json"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="cannot be read"):
        load_result(binary)


def test_the_directory_of_the_result_is_made(noisy, tmp_path):
    save_result(noisy, tmp_path / "new" / "deep" / "result.json")
    assert (tmp_path / "new" / "deep" / "result.json").is_file()


def test_a_file_where_the_directory_should_be_is_named(noisy, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match="file is in the way: it is not a directory"):
        save_result(noisy, tmp_path / "file" / "deep" / "result.json")


def test_a_full_disk_leaves_nothing_behind(noisy, tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(RunError, match="No space left on device"):
        save_result(noisy, tmp_path / "result.json")
    assert list(tmp_path.iterdir()) == []
