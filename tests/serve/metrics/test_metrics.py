"""Metrics are what the completions say, under the names that are promised."""

from __future__ import annotations

from collections import Counter

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.serve.openai.bodies import COMPLETION
from tests.serve.serving import IDENTITY, runner_of, served
from trtspec.run import Completion
from trtspec.run.types import DraftStep
from trtspec.serve.metrics import Identity, ServerMetrics, names


def read(text: str) -> dict[tuple[str, tuple], float]:
    """Name and labels, but for the model's, → value."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("model_name") == "toy"
            found[sample.name, tuple(sorted(labels.items()))] = sample.value
    return found


def values(metrics: ServerMetrics):
    return read(metrics.render().decode())


@pytest.fixture
def metrics():
    return ServerMetrics("toy", IDENTITY)


DONE = Completion(
    "a",
    3,
    [4, 5, 6, 7, 8],
    "x",
    "stop",
    submitted_at=10.0,
    joined_at=10.25,
    first_token_at=10.5,
    last_token_at=12.5,
    steps=3,
    drafted=9,
    accepted=2,
    draft_steps=[DraftStep(6, 3, 2), DraftStep(0, 0, 0), DraftStep(3, 3, 0)],
)


def test_one_completion(metrics):
    metrics.finished(DONE)
    found = values(metrics)
    for name, value in {
        "trtspec:prompt_tokens_total": 3,
        "trtspec:generation_tokens_total": 5,
        "trtspec:verification_steps_total": 3,
        "trtspec:spec_decode_num_drafts_total": 2,
        "trtspec:spec_decode_num_draft_tokens_total": 9,
        "trtspec:spec_decode_num_accepted_tokens_total": 2,
        "trtspec:request_queue_time_seconds_sum": 0.25,
        "trtspec:time_to_first_token_seconds_sum": 0.5,
        "trtspec:request_time_per_output_token_seconds_sum": 0.5,
        "trtspec:e2e_request_latency_seconds_sum": 2.5,
        "trtspec:e2e_request_latency_seconds_count": 1,
    }.items():
        assert found[name, ()] == pytest.approx(value), name
    per_position = "trtspec:spec_decode_num_accepted_tokens_per_pos_total"
    assert found[per_position, (("position", "0"),)] == 1
    assert found[per_position, (("position", "1"),)] == 1
    assert (per_position, (("position", "2"),)) not in found
    reason = (("finished_reason", "stop"),)
    assert found["trtspec:request_success_total", reason] == 1


def test_what_did_not_happen_is_not_observed(metrics):
    """A request that was cancelled while it waited has no times."""
    metrics.finished(Completion("a", 3, finish_reason="cancelled", submitted_at=5.0))
    metrics.finished(Completion("b", 3, [4], "", "length", 5.0, 5.5, 6.0, 6.0))
    found = values(metrics)
    counts = {
        "request_queue_time_seconds": 1,
        "time_to_first_token_seconds": 1,
        "request_time_per_output_token_seconds": 0,
        "e2e_request_latency_seconds": 1,
    }
    for name, count in counts.items():
        assert found.get((f"trtspec:{name}_count", ()), 0) == count, name


def test_an_engine_that_tells_sums_only_has_no_positions(metrics):
    metrics.finished(Completion("a", 3, [4], steps=2, drafted=4, accepted=1))
    found = values(metrics)
    assert found["trtspec:spec_decode_num_draft_tokens_total", ()] == 4
    assert found["trtspec:spec_decode_num_drafts_total", ()] == 0


def test_all_promised_names_are_there_and_no_others(metrics):
    metrics.refused("429")
    metrics.failed("500")
    metrics.ready(True)
    metrics.watch(lambda: 1, lambda: 2)
    metrics.finished(DONE)
    families = {
        family.name: family
        for family in text_string_to_metric_families(metrics.render().decode())
    }
    wanted = {*names.GAUGES, *names.COUNTERS, *names.HISTOGRAMS}
    assert set(families) == wanted
    kinds = {"gauge": names.GAUGES, "counter": names.COUNTERS}
    for kind, those in {**kinds, "histogram": names.HISTOGRAMS}.items():
        assert {families[name].type for name in those} == {kind}
    assert all(family.documentation for family in families.values())
    assert all(name.startswith(names.PREFIX) for name in families)


def test_zero_is_there_from_the_start(metrics):
    found = values(metrics)
    for name in ("prompt_tokens", "generation_tokens", "spec_decode_num_drafts"):
        assert found[f"trtspec:{name}_total", ()] == 0


def test_gauges_are_asked_when_they_are_read(metrics):
    state = {"running": 1, "waiting": 0}
    metrics.watch(lambda: state["running"], lambda: state["waiting"])
    assert values(metrics)["trtspec:num_requests_running", ()] == 1
    state.update(running=2, waiting=5)
    found = values(metrics)
    assert found["trtspec:num_requests_running", ()] == 2
    assert found["trtspec:num_requests_waiting", ()] == 5


def test_refused_and_failed_are_counted_by_reason(metrics):
    for reason in ("429", "429", "400"):
        metrics.refused(reason)
    metrics.failed("500")
    found = values(metrics)
    assert found["trtspec:requests_refused_total", (("reason", "429"),)] == 2
    assert found["trtspec:requests_refused_total", (("reason", "400"),)] == 1
    assert found["trtspec:requests_failed_total", (("reason", "500"),)] == 1


def test_who_is_served():
    identity = Identity("1.2", "reference", "ngram", 'a "b"\n', "f" * 64, "{1: 4}")
    found = values(ServerMetrics("toy", identity))
    [(labels, value)] = [
        (dict(k[1]), v) for k, v in found.items() if k[0] == names.INFO
    ]
    assert value == 1
    assert labels["artifact"] == 'a "b"\n'
    assert labels["draft_length"] == "{1: 4}"


def test_two_servers_do_not_share_counts(metrics):
    other = ServerMetrics("toy", IDENTITY)
    metrics.finished(DONE)
    assert values(other)["trtspec:prompt_tokens_total", ()] == 0


def test_buckets_rise_and_span_what_is_measured():
    for buckets in (names.SHORT_BUCKETS, names.LONG_BUCKETS):
        assert list(buckets) == sorted(set(buckets))
    assert max(names.LONG_BUCKETS) >= 600
    assert min(names.SHORT_BUCKETS) <= 0.001


def test_a_servers_metrics_are_what_its_answers_say(word_models, word_recipe):
    """Over a few real requests, speculated and not, cut and whole."""
    runner = runner_of(word_recipe, word_models / "target")
    bodies = [
        {"max_tokens": 30, "ignore_eos": True, "temperature": 0},
        {"max_tokens": 30, "ignore_eos": True, "n": 3, "temperature": 0.5, "seed": 1},
        {"max_tokens": 30, "stop": [" w4"], "temperature": 0.7, "seed": 2},
        {"max_tokens": 20, "speculation": {"enabled": False}, "ignore_eos": True},
    ]
    told = Counter()
    with served(runner, word_recipe) as server, server.client() as client:
        for body in bodies:
            answer = client.post("/v1/completions", json={**COMPLETION, **body}).json()
            told["prompt"] += answer["usage"]["prompt_tokens"] * body.get("n", 1)
            told["generation"] += answer["usage"]["completion_tokens"]
            for choice in answer["choices"]:
                for name in ("steps", "drafted", "accepted"):
                    told[name] += choice["speculation"][name]
                told["finish", choice["finish_reason"]] += 1
        client.post("/v1/completions", json={**COMPLETION, "min_p": 1})
        found = read(client.get("/metrics").text)
    assert told["accepted"] > 0
    for name, key in {
        "prompt_tokens": "prompt",
        "generation_tokens": "generation",
        "verification_steps": "steps",
        "spec_decode_num_draft_tokens": "drafted",
        "spec_decode_num_accepted_tokens": "accepted",
    }.items():
        assert found[f"trtspec:{name}_total", ()] == told[key], name
    for finish in ("stop", "length"):
        ended = found.get(
            ("trtspec:request_success_total", (("finished_reason", finish),)), 0
        )
        assert ended == told["finish", finish]
    positions = "trtspec:spec_decode_num_accepted_tokens_per_pos_total"
    by_position = [v for k, v in found.items() if k[0] == positions]
    assert sum(by_position) == told["accepted"]
    assert found["trtspec:requests_refused_total", (("reason", "400"),)] == 1
    assert found["trtspec:e2e_request_latency_seconds_count", ()] == 6
