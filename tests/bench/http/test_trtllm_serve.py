"""The driver on a stand-in of trtllm-serve, which refuses names it does not know."""

from __future__ import annotations

import pytest

from tests.standins.engines import greedy
from tests.standins.llm.samples import draft_model
from tests.standins.serving.processes import serve
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.address import read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import look_at
from trtspec.bench.outcome import Failed, Outcome
from trtspec.bench.records import Load
from trtspec.run import SamplingParams

RELEASES = ("1.2.1", "1.4.0rc4")
PROMPT = BenchPrompt("p1", "", ({"role": "user", "content": "t3 t9 t4"},))
SAMPLED = SamplingParams(temperature=0.7, top_k=4, top_p=0.9, seed=3)


@pytest.fixture(scope="module", params=RELEASES)
def drafting(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drafting")
    document = {"speculative_config": draft_model(request.param)}
    served = serve(folder, request.param, document)
    yield served
    served.stop()


def measured(served, api, *, off=False, **more):
    url = str(served.client.base_url)
    driver = OverHttp(look_at(read_address(url, {}), None, api), off=off)
    more.setdefault("sampling", SamplingParams())
    call = Call("p1", PROMPT, 20, **more)
    (outcome,) = driver.run([call], Load(concurrency=1)).outcomes
    return outcome


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_its_tokens_and_drafts_are_counted(drafting, api):
    outcome = measured(drafting, api)
    assert isinstance(outcome, Outcome), outcome
    (done,) = drafting.standin.decoding().requests[-1:]
    assert outcome.output_tokens == 20
    assert outcome.prompt_tokens == 3
    expected = " ".join(f"t{token}" for token in greedy((3, 9, 4), 20))
    assert outcome.text == expected
    assert outcome.steps == len(done["steps"])
    assert outcome.accepted == sum(accepted for _, accepted in done["steps"])
    assert outcome.drafted is None  # this release tells a mean only
    assert outcome.finish_reason == "length"


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_it_takes_every_name_that_is_sent(drafting, api):
    outcome = measured(drafting, api, sampling=SAMPLED, ignore_end=True)
    assert isinstance(outcome, Outcome), outcome


def test_it_is_no_off_arm(drafting):
    outcome = measured(drafting, "chat", off=True)
    assert isinstance(outcome, Failed)
    assert "off arm" in outcome.what


def test_it_says_what_it_is(drafting):
    url = str(drafting.client.base_url)
    found = look_at(read_address(url, {}), None, "chat")
    assert found.described["owned_by"] == "tensorrt_llm"
    assert found.described["version"] in RELEASES
