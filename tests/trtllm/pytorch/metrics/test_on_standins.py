"""Every source agrees with what the stand-in did, while the draft length changes."""

from __future__ import annotations

import asyncio
import importlib
import json
from types import SimpleNamespace

import pytest
import yaml
from packaging.version import Version

from tests.standins import install
from tests.standins.machine import Machine
from tests.standins.serving.command import CommandLine
from tests.standins.serving.endpoints import Endpoints
from tests.standins.serving.failing import wanted
from tests.standins.serving.http import HttpRequest
from tests.trtllm.pytorch.run.artifacts import REPEATING, write_artifact
from trtspec.trtllm.pytorch.metrics import (
    choose,
    from_request_perf,
    from_response,
)
from trtspec.trtllm.pytorch.metrics.iterations import SOURCE as ITERATIONS
from trtspec.trtllm.pytorch.metrics.prometheus import SOURCE as PROMETHEUS
from trtspec.trtllm.pytorch.metrics.reading import read_http, read_llm, scrape

SCHEDULED = ["1.2.1", "1.4.0rc4"]
LENGTHS = (6, 12, 18, 30)
LIMITS = {"max_batch_size": 4, "max_total_tokens": 60}
MAP = {1: 4, 3: 2}
"""Four requests that end one after the other meet drafts of 0, 2 and 4 tokens."""
URL = "http://server"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs requests on the stand-in of a version; gives LLM, results and truth."""
    opened = []

    def run_one(version, method="eagle3", **options):
        standin = install(tmp_path / version, version, pytorch=True)
        standin.activate(monkeypatch)
        standin.pace(0.005)  # so that all requests begin together
        artifact = write_artifact(
            tmp_path / "artifact", version, method, limits=LIMITS, **options
        )
        monkeypatch.chdir(artifact.path)
        arguments = yaml.safe_load(
            (artifact.path / "launch" / "llm_args.yaml").read_text()
        )
        package = importlib.import_module("tensorrt_llm")
        llm = package.LLM("target", **arguments)
        opened.append(llm)
        params = [
            package.SamplingParams(
                max_tokens=n, ignore_eos=True, return_perf_metrics=True
            )
            for n in LENGTHS
        ]
        results = llm.generate([list(REPEATING)] * len(LENGTHS), params)
        return llm, results, standin

    yield run_one
    for llm in opened:
        llm.shutdown()


@pytest.mark.parametrize("version", SCHEDULED)
def test_iteration_records_have_the_denominators_of_the_schedule(run, version):
    llm, _, standin = run(version, draft_length=MAP)
    truth = standin.decoding()
    found = read_llm(llm, Version(version))
    assert (found.drafted, found.accepted) == (
        truth.total("drafted"),
        truth.total("accepted"),
    )
    assert found.steps == truth.drafting_steps < truth.steps
    assert 0 < found.drafted < max(MAP.values()) * found.steps
    assert found.note == ""
    assert not read_llm(llm, Version(version)).is_known  # reading empties the queue


@pytest.mark.parametrize("version", ["1.1.0", *SCHEDULED])
def test_each_response_tells_its_own_steps_and_accepted_tokens(run, version):
    changing = {} if version == "1.1.0" else {"draft_length": MAP}
    _, results, standin = run(version, **changing)
    truth = {record["id"]: record for record in standin.events("request")}
    found = {
        result.request_id: from_response(
            result.avg_decoded_tokens_per_iter, len(result.outputs[0].token_ids)
        )
        for result in results
    }
    for number, one in found.items():
        assert one.steps == len(truth[number]["steps"])
        assert one.accepted == truth[number]["accepted"]
    accepted = sum(one.accepted for one in found.values())
    assert accepted == standin.decoding().total("accepted") > 0


@pytest.mark.parametrize(
    ("version", "is_filled"), [("1.0.0", False), ("1.2.1", False), ("1.4.0rc4", True)]
)
def test_a_requests_own_counters_are_used_only_where_they_are_filled(
    run, version, is_filled
):
    changing = {} if version == "1.0.0" else {"draft_length": MAP}
    _, results, standin = run(version, **changing)
    found = [
        from_request_perf(
            result.outputs[0].request_perf_metrics.speculative_decoding,
            Version(version),
        )
        for result in results
    ]
    truth = standin.decoding()
    assert truth.total("drafted") > 0
    drafted, accepted = (
        sum(count or 0 for count in counts)
        for counts in zip(*((one.drafted, one.accepted) for one in found), strict=True)
    )
    assert drafted == (truth.total("drafted") if is_filled else 0)
    assert accepted == (truth.total("accepted") if is_filled else 0)
    unfilled = ["leaves it at 0" in one.unavailable for one in found]
    assert all(unfilled) is any(unfilled) is not is_filled


class Application:
    """The stand-in's server without a socket."""

    def __init__(self, llm, version, machine):
        line = CommandLine("target", {"--backend": "pytorch"})
        endpoints = Endpoints(
            llm, line, version, machine=machine, failure=wanted(machine)
        )
        self._answer = endpoints.answer

    def get(self, url):
        request = HttpRequest("GET", url.removeprefix(URL), {}, b"", None)
        answer = asyncio.run(self._answer(request))
        text = answer.body.decode()
        return SimpleNamespace(
            status_code=answer.status, text=text, json=lambda: json.loads(text)
        )


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", *SCHEDULED])
def test_a_server_is_read_by_what_its_release_fills(run, version, tmp_path):
    changing = {"draft_length": MAP} if version in SCHEDULED else {}
    llm, results, standin = run(version, **changing)
    server = Application(llm, version, Machine(tmp_path / version))
    truth = standin.decoding()
    found = read_http(server, URL, Version(version))
    if version in SCHEDULED:
        assert found.drafted == truth.total("drafted")
        assert found.acceptance_length == 1 + found.accepted / truth.drafting_steps
    else:
        assert not found.is_known
        assert "specDecodingStats" in found.unavailable
    derived = [
        from_response(
            result.avg_decoded_tokens_per_iter, len(result.outputs[0].token_ids)
        )
        for result in results
    ]
    best = [choose(found, one) for one in derived]
    if version == "1.0.0":  # not known to tell anything
        assert all("specDecodingStats" in one.unavailable for one in best)
    elif version == "1.1.0":
        assert sum(one.accepted for one in best) == truth.total("accepted")
    else:
        assert {one.accepted for one in best} == {truth.total("accepted")}


def test_the_prometheus_page_gives_what_was_drafted_since_a_scrape(run, tmp_path):
    llm, _, standin = run("1.4.0rc4", draft_length=MAP)
    server = Application(llm, "1.4.0rc4", Machine(tmp_path / "1.4.0rc4"))
    before = scrape(server, URL)
    assert before is not None
    version, truth = Version("1.4.0rc4"), standin.decoding()
    records = read_http(server, URL, version)
    page = read_http(server, URL, version)  # the records are read: the page is left
    assert (page.source, records.source) == (PROMETHEUS, ITERATIONS)
    assert (page.drafted, page.accepted) == (records.drafted, records.accepted)
    assert page.drafted == truth.total("drafted")
    since = read_http(server, URL, version, before=before)
    assert "nothing was drafted" in since.unavailable
