"""Results of AIPerf and trtllm-bench are read; anything else is none of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bench.interchange.runs import measured
from trtspec.bench.interchange import ForeignResult, export_aiperf, read_foreign
from trtspec.bench.interchange.trtllm_bench_read import PER_ITERATION, SCHEDULE_BLIND
from trtspec.errors import UsageError

PERCENTILES = {
    "p50": 10.0, "p90": 18.0, "p95": 19.0, "p99": 20.0,
    "minimum": 1.0, "maximum": 21.0, "average": 11.0,
}  # fmt: skip


def report(**changes: object) -> dict[str, object]:
    """A report as trtllm-bench of the 1.1 line writes it."""
    return {
        "engine": {
            "model": "m", "model_path": "/m", "engine_dir": "None", "version": "1.1.0",
            "backend": "Pytorch", "dtype": "bfloat16", "kv_cache_dtype": None,
            "quantization": None,
        },
        "machine": {"name": "H200", "memory.total": 139.8, "clocks.mem": 3.2},
        "world_info": {
            "tp_size": 1, "pp_size": 1, "ep_size": 1, "world_size": 1,
            "max_batch_size": 32, "max_num_tokens": 8192, "scheduling_policy": "x",
            "kv_cache_percentage": 0.9, "issue_rate": 1e9,
        },
        "request_info": {
            "num_requests": 100, "avg_num_concurrent_requests": 7.9,
            "avg_input_length": 128.0, "avg_output_length": 64.0,
        },
        "performance": {
            "total_latency_ms": 5000.0,
            "avg_request_latency_ms": 390.0,
            "request_throughput_req_s": 20.0,
            "system_output_throughput_tok_s": 1280.0,
            "system_total_throughput_tok_s": 3840.0,
            "output_throughput_per_user_tok_s": 160.0,
            "output_throughput_per_gpu_tok_s": 1280.0,
            "request_latency_percentiles_ms": PERCENTILES,
        },
        "streaming_metrics": {
            "token_output_speed_tok_s": 170.0, "avg_ttft_ms": 11.0, "avg_tpot_ms": 6.0,
            "tpot_percentiles": PERCENTILES, "ttft_percentiles": PERCENTILES,
            "gen_tps_percentiles": PERCENTILES,
        },
        "decoding_stats": {
            "mode": "Eagle",
            "num_draft_tokens_percentiles": PERCENTILES,
            "num_accepted_draft_tokens_percentiles": PERCENTILES,
            "draft_acceptance_rate_percentiles": PERCENTILES,
            "acceptance_length_percentiles": PERCENTILES,
        },
        "dataset": {"isl_stats": {}, "num_requests": 100},
        **changes,
    }  # fmt: skip


@pytest.fixture
def read(tmp_path):
    def write(content: object, name: str = "r.json") -> ForeignResult | None:
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_text(text)
        return read_foreign(tmp_path / name)

    return write


def test_a_report_of_trtllm_bench_is_read(read):
    found = read(report())
    assert (found.tool, found.tool_version, found.requests) == (
        "trtllm-bench",
        "1.1.0",
        100,
    )
    assert found.file == "r.json"
    throughput = found.metric("system_output_throughput_tok_s")
    assert (throughput.value, throughput.unit) == (1280.0, "tokens/s")
    ttft = found.metric("ttft_percentiles")
    assert (ttft.mean, ttft.p50, ttft.p95, ttft.p99) == (11.0, 10.0, 19.0, 20.0)
    assert ttft.unit == "ms"
    assert found.conditions["machine"]["name"] == "H200"
    assert found.acceptance["mode"] == "Eagle"


def test_its_acceptance_rate_is_said_to_be_blind_to_schedules(read):
    assert SCHEDULE_BLIND in read(report()).caveats
    assert "multiplies max_draft_len" in SCHEDULE_BLIND


def test_early_releases_give_a_length_under_the_name_of_acceptance(read):
    early = {"mode": "Eagle", "acceptance_percentiles": PERCENTILES}
    found = read(report(decoding_stats=early, machine=None))
    assert PER_ITERATION in found.caveats
    assert SCHEDULE_BLIND not in found.caveats
    assert "machine" not in found.conditions


def test_a_report_without_streaming_or_drafting_is_read(read):
    plain = {k: v for k, v in report().items() if k not in ("streaming_metrics",)}
    plain["decoding_stats"] = None
    found = read(plain)
    assert found.acceptance is None
    assert found.metric("ttft_percentiles") is None
    assert found.metric("request_throughput_req_s").value == 20.0
    assert not [c for c in found.caveats if c.startswith("acceptance")]


def test_energy_of_later_releases_is_read(read):
    found = read(report(energy={"total_energy_j": 900.0, "average_gpu_power": 450.0}))
    assert found.metric("total_energy_j").value == 900.0


SUMMARY = {
    "schema_version": "1.4",
    "aiperf_version": "0.13.0",
    "request_count": {"unit": "requests", "avg": 64.0},
    "error_request_count": {"unit": "requests", "avg": 2.0},
    "request_throughput": {"unit": "requests/sec", "avg": 3.5},
    "time_to_first_token": {
        "unit": "ms", "avg": 12.0, "p50": 11.0, "p95": 20.0, "p99": 30.0, "count": 64,
    },
    "inter_chunk_latency": {"unit": "ms", "avg": 9.0, "p50": 8.0, "p95": 9.5},
    "spec_decode_acceptance_length": {"unit": "ratio", "avg": 2.4, "p50": 2.3},
    "total_draft_tokens": {"unit": "tokens", "avg": 400.0},
    "pooled_spec_decode_acceptance_histogram": {"0": 10, "1": 5},
    "input_config": {
        "models": {"items": [{"name": "m"}]},
        "endpoint": {"type": "chat", "streaming": True, "api_key": "secret"},
    },
    "start_time": "2026-11-30T10:00:00",
    "was_cancelled": False,
    "is_complete": True,
}  # fmt: skip


def test_a_summary_of_aiperf_is_read(read):
    found = read(SUMMARY)
    assert (found.tool, found.tool_version) == ("aiperf", "0.13.0")
    assert (found.requests, found.failed) == (64, 2)
    ttft = found.metric("time_to_first_token")
    assert (ttft.unit, ttft.mean, ttft.p95, ttft.value) == ("ms", 12.0, 20.0, None)
    assert found.metric("request_throughput").value == 3.5
    assert found.acceptance["spec_decode_acceptance_length"] == 2.4
    assert found.acceptance["pooled_spec_decode_acceptance_histogram"] == {
        "0": 10,
        "1": 5,
    }
    assert found.conditions["models"] == {"items": [{"name": "m"}]}
    assert "gap between chunks" in " ".join(found.caveats)


def test_keys_of_a_server_are_not_kept(read):
    assert "secret" not in read(SUMMARY).model_dump_json()


def test_an_incomplete_run_of_aiperf_is_said_to_be_one(read):
    found = read(SUMMARY | {"is_complete": False, "incomplete_reason": "stalled"})
    assert found.caveats[0] == "the run is incomplete: stalled"


def record(latency: float, phase: str = "profiling", **more: object) -> str:
    return json.dumps(
        {
            "metadata": {
                "session_num": 0,
                "request_start_ns": 1,
                "request_end_ns": 2,
                "benchmark_phase": phase,
            },
            "metrics": {"request_latency": {"value": latency, "unit": "ms"}},
            **more,
        }
    )


def test_records_of_aiperf_are_summed_up(read):
    drafting = {
        "num_spec_steps": 4,
        "num_draft_tokens": 8,
        "num_accepted_draft_tokens": 2,
    }
    lines = [
        record(999.0, "warmup"),
        record(10.0, spec_decode_acceptance=drafting),
        record(20.0, spec_decode_acceptance=drafting),
        record(5.0, error={"message": "timeout"}),
    ]
    found = read("\n".join(lines) + "\n", "profile_export.jsonl")
    assert (found.requests, found.failed) == (2, 1)
    assert found.metric("request_latency").mean == 15.0
    assert found.acceptance["draft_acceptance_rate"] == 0.25
    assert found.acceptance["mean_acceptance_length"] == 1.5


def test_a_record_that_was_cut_off_is_left_out(read):
    found = read(record(10.0) + "\n" + record(20.0)[:40], "p.jsonl")
    assert found.requests == 1


def test_a_damaged_record_names_its_line(read):
    with pytest.raises(UsageError) as caught:
        read("\n".join([record(1.0), "{}", record(2.0)]), "p.jsonl")
    assert caught.value.problems[0].where.endswith("p.jsonl:2")


def test_our_own_export_is_read_back(tmp_path):
    done = measured(tmp_path)
    export_aiperf(done, tmp_path / "out")
    summary = read_foreign(tmp_path / "out/c1-on")
    records = read_foreign(tmp_path / "out/c1-on/profile_export.jsonl")
    assert summary.requests == records.requests == 24
    for name in ("request_latency", "time_to_first_token", "inter_token_latency"):
        theirs, ours = summary.metric(name), records.metric(name)
        assert theirs.p50 == pytest.approx(ours.p50)
        assert theirs.p95 == pytest.approx(ours.p95)
        assert theirs.mean == pytest.approx(ours.mean)
    assert summary.tool_version.startswith("trtspec ")
    acceptance = done.result.cells[0].arms["on"].acceptance
    assert records.acceptance["draft_acceptance_rate"] == pytest.approx(acceptance.rate)
    assert records.acceptance["mean_acceptance_length"] == pytest.approx(
        acceptance.length
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "text",
        "[]",
        "3",
        "null",
        "{}",
        '{"engine": {}}',
        '{"engine": {}, "world_info": {}, "request_info": {}, "performance": {}}',
        '{"request_count": 3, "request_latency": 4}',
        '{"prompt": "a"}\n{"prompt": "b"}\n',
        '{"metadata": {}, "metrics": {}}',
        "[" * 100_000,
        '{"schema": "trtspec/bench/v2", "plan": {}}',
    ],
)
def test_anything_else_is_none_of_them(read, content):
    assert read(content) is None


def test_bytes_that_are_no_text_and_empty_folders_are_none(tmp_path):
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    assert read_foreign(tmp_path / "b") is None
    assert read_foreign(tmp_path) is None


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        read_foreign(tmp_path / "none.json")


def test_numbers_that_are_none_are_no_values(read):
    found = read(json.dumps(SUMMARY).replace("3.5", "NaN").replace("12.0", "Infinity"))
    assert found.metric("request_throughput").value is None
    assert found.metric("time_to_first_token").mean is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    section=st.sampled_from(
        ["streaming_metrics", "decoding_stats", "machine", "dataset"]
    ),
    value=JSON,
)
def test_odd_sections_of_a_report_do_no_harm(read, section, value):
    assert read(report(**{section: value})).tool == "trtllm-bench"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.sampled_from(
        ["input_config", "pooled_spec_decode_acceptance_histogram", "x"]
    ),
    value=JSON,
)
def test_odd_parts_of_a_summary_do_no_harm(read, key, value):
    assert read(SUMMARY | {key: value}).tool == "aiperf"


@pytest.mark.parametrize("huge", ["1" + "0" * 400, "1e999", "-1e999", "NaN"])
def test_numbers_that_no_float_holds_are_no_values(tmp_path, huge):
    for name, content in (
        ("report.json", report()),
        ("aiperf.json", {tag: {"unit": "ms", "avg": 1.5, "p50": 2.5} for tag in TAGS}),
    ):
        text = json.dumps(content).replace("10.0", huge).replace("2.5", huge)
        assert huge in text
        (tmp_path / name).write_text(text)
        assert read_foreign(tmp_path / name) is not None


TAGS = ("request_latency", "time_to_first_token")
