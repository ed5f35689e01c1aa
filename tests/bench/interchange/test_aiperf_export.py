"""Runs are written as AIPerf writes them: names, units, definitions, sums."""

from __future__ import annotations

import json

import pytest

from tests.bench.fakes import FakeRunner, arm_info, plan, run, sample
from tests.bench.interchange.runs import measured
from trtspec.bench.interchange import export_aiperf
from trtspec.bench.interchange.aiperf_facts import (
    ACCEPTANCE_FIELDS,
    RECORD_UNITS,
    RUN_UNITS,
)
from trtspec.bench.interchange.aiperf_records import acceptance_of, values_of
from trtspec.bench.records import Load
from trtspec.run import DraftStep

ARM = arm_info("on", "candidate")


def files(folder):
    summary = json.loads((folder / "profile_export_aiperf.json").read_text())
    lines = (folder / "profile_export.jsonl").read_text().splitlines()
    return summary, [json.loads(line) for line in lines]


def test_each_load_and_arm_has_a_folder(tmp_path):
    done = measured(tmp_path, concurrency=(1, 4), control=True)
    folders = export_aiperf(done, tmp_path / "out")
    assert [f.name for f in folders] == [
        "c1-off", "c1-off-again", "c1-on", "c4-off", "c4-off-again", "c4-on",
    ]  # fmt: skip
    for folder in folders:
        assert sorted(f.name for f in folder.iterdir()) == [
            "profile_export.jsonl",
            "profile_export_aiperf.json",
        ]


def test_records_are_the_counted_requests_in_the_order_of_sending(tmp_path):
    export_aiperf(measured(tmp_path), tmp_path / "out")
    folder = tmp_path / "out/c1-on"
    _, records = files(folder)
    assert len(records) == 3 * 8
    starts = [r["metadata"]["request_start_ns"] for r in records]
    assert starts == sorted(starts)
    assert [r["metadata"]["session_num"] for r in records] == list(range(24))
    assert {r["metadata"]["benchmark_phase"] for r in records} == {"profiling"}


def test_sums_agree_with_the_records(tmp_path):
    export_aiperf(measured(tmp_path), tmp_path / "out")
    summary, records = files(tmp_path / "out/c1-on")
    metrics = [r["metrics"] for r in records]
    assert summary["request_count"] == {"unit": "requests", "avg": 24}
    assert summary["total_osl"]["avg"] == sum(
        m["output_sequence_length"]["value"] for m in metrics
    )
    assert summary["total_draft_tokens"]["avg"] == sum(
        m["spec_decode_draft_tokens"]["value"] for m in metrics
    )
    pooled = summary["pooled_spec_decode_acceptance_histogram"]
    assert sum(pooled.values()) == summary["total_spec_decode_steps"]["avg"]
    accepted = sum(int(j) * n for j, n in pooled.items())
    assert accepted == summary["total_accepted_draft_tokens"]["avg"]
    assert summary["output_token_throughput"]["avg"] == pytest.approx(
        summary["total_osl"]["avg"] / summary["benchmark_duration"]["avg"]
    )


def test_the_off_arm_says_nothing_of_drafting(tmp_path):
    export_aiperf(measured(tmp_path), tmp_path / "out")
    summary, records = files(tmp_path / "out/c1-off")
    assert not [key for key in summary if "spec" in key and key != "trtspec"]
    assert all("spec_decode_acceptance" not in r for r in records)


def test_metrics_of_the_stream_known_by_hand():
    """100:1 120:3 140:1 160:4 180:2 gives 11 tokens, TTFT 100, TPOT 8."""
    chunks = [(0.1, 1), (0.12, 3), (0.14, 1), (0.16, 4), (0.18, 2)]
    one = sample(
        output_tokens=11, prompt_tokens=7, ttft=0.1, tpot=0.008, e2e=0.18, chunks=chunks
    )
    values = values_of(one)
    assert values["request_latency"] == pytest.approx(180)
    assert values["time_to_first_token"] == pytest.approx(100)
    assert values["inter_token_latency"] == pytest.approx(8)
    assert values["output_token_throughput_per_user"] == pytest.approx(125)
    assert values["inter_chunk_latency"] == pytest.approx([20, 20, 20, 20])
    assert values["output_sequence_length"] == 11
    assert values["input_sequence_length"] == 7


def test_latencies_count_from_the_time_of_sending():
    late = sample(late=0.25, ttft=0.5, e2e=4.5)
    assert values_of(late)["request_latency"] == pytest.approx(4250)
    assert values_of(late)["time_to_first_token"] == pytest.approx(250)


def test_what_a_server_does_not_tell_is_left_out():
    silent = sample(
        prompt_tokens=None, tpot=None, steps=None, drafted=None, accepted=None
    )
    assert set(values_of(silent)) == {
        "request_latency",
        "time_to_first_token",
        "output_sequence_length",
    }


def test_acceptance_record_of_a_request():
    steps = [
        DraftStep(3, 3, 2),
        DraftStep(3, 3, 0),
        DraftStep(0, 0, 0),
        DraftStep(2, 2, 2),
    ]
    one = sample(output_tokens=9, steps=4, drafted=8, accepted=4, draft_steps=steps)
    assert acceptance_of(one, ARM) == {
        "engine": "trtspec",
        "mean_acceptance_length": 2.0,
        "draft_acceptance_rate": 0.5,
        "acceptance_histogram": {"0": 2, "2": 2},
        "num_accepted_draft_tokens": 4,
        "num_draft_tokens": 8,
        "num_spec_steps": 4,
        "num_spec_tokens": 3,
        "completion_tokens": 9,
        "per_step_accepted": [2, 0, 0, 2],
        "per_step_drafted": [3, 3, 0, 2],
    }


@pytest.mark.parametrize(
    ("length", "bound"), [(3, 3), ({"8": 4}, None), (2, None), (None, None)]
)
def test_the_bound_of_a_step_is_told_if_it_is_one(length, bound):
    arm = ARM.model_copy(update={"speculation": {"draft_length": length}})
    one = sample(steps=1, drafted=3, accepted=1, draft_steps=[DraftStep(3, 3, 1)])
    acceptance = acceptance_of(one, arm)
    assert acceptance is not None
    assert acceptance["num_spec_tokens"] == bound


def test_sums_alone_make_no_histogram(tmp_path):
    done = run(FakeRunner(tells_steps=False), plan(8), tmp_path / "run")
    export_aiperf(done, tmp_path / "out")
    summary, records = files(tmp_path / "out/c1-on")
    assert "pooled_spec_decode_acceptance_histogram" not in summary
    assert all("spec_decode_acceptance" not in r for r in records)
    assert summary["total_draft_tokens"]["avg"] > 0


def test_a_load_that_failed_and_one_without_blocks_are_left_out(tmp_path):
    def fail(runner):
        if len(runner.submitted) > 30:
            raise RuntimeError("out of memory")

    failed = run(FakeRunner(before_advance=fail), plan(8), tmp_path / "run")
    assert failed.raw.failures
    assert export_aiperf(failed, tmp_path / "out") == ()


def test_open_loops_are_named_by_their_rate(tmp_path):
    load = Load(arrivals="fixed", rate=0.5)
    done = run(FakeRunner(), plan(8, loads=(load,)), tmp_path / "run")
    folders = export_aiperf(done, tmp_path / "out")
    assert [f.name for f in folders] == ["fixed0.5-off", "fixed0.5-on"]


def test_every_name_that_is_written_is_a_known_one_with_its_unit(tmp_path):
    export_aiperf(measured(tmp_path), tmp_path / "out")
    summary, records = files(tmp_path / "out/c1-on")
    units = {
        k: v["unit"] for k, v in summary.items() if isinstance(v, dict) and "unit" in v
    }
    assert units.items() <= (RECORD_UNITS | RUN_UNITS).items()
    for record in records:
        for tag, told in record["metrics"].items():
            assert told["unit"] == RECORD_UNITS[tag]
        assert tuple(record["spec_decode_acceptance"]) == ACCEPTANCE_FIELDS
