"""What an LLM in this process is asked, and how its answers are read."""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from types import ModuleType, SimpleNamespace

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.fakes import ask
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.run.llm_source import LlmSource


class Result:
    """Gives the answers of a script; tokens grow, as in TensorRT-LLM."""

    def __init__(self, answers):
        self.answers = answers
        self.finished = False
        self.aborted = False
        self.outputs = [SimpleNamespace(token_ids=[], finish_reason=None)]

    async def __aiter__(self):
        for answer in self.answers:
            if isinstance(answer, Exception):
                raise answer
            output, values = self.outputs[0], dict(answer)
            output.token_ids = values.pop("tokens")
            output.finish_reason = values.pop("finish", None)
            output.stop_reason = values.pop("stop", None)
            output.request_perf_metrics = values.pop("perf", None)
            self.finished = output.finish_reason is not None
            for name, value in values.items():
                setattr(self, name, value)
            yield self

    def abort(self):
        self.aborted = True


class Llm:
    def __init__(self, answers=(), refuses=None):
        self.result = Result(answers)
        self.refuses = refuses
        self.asked = []

    def generate_async(self, inputs, sampling_params, streaming):
        if self.refuses:
            raise self.refuses
        self.asked.append((inputs, sampling_params, streaming))
        return self.result


def read(llm, most=99, counters=False, **options):
    module = SimpleNamespace(SamplingParams=SimpleNamespace)
    version = Version("1.4.0rc4")
    source = LlmSource(llm, module, version, {1}, counters=counters)

    async def collect():
        found = []
        async with aclosing(source.stream(ask(**options))) as deltas:
            async for delta in deltas:
                found.append(delta)
                if len(found) == most:
                    break
        return found

    return asyncio.run(collect())


def test_new_tokens_are_told_from_those_that_were_there():
    last = {"tokens": [5, 6, 7, 8], "finish": "length"}
    llm = Llm([{"tokens": [5]}, {"tokens": [5, 6, 7]}, last])
    assert [d.tokens for d in read(llm)] == [(5,), (6, 7), (8,)]
    ((inputs, params, streaming),) = llm.asked
    assert (inputs, streaming) == ([3, 9, 4], True)
    assert params.detokenize is False
    assert not llm.result.aborted


def test_a_stop_word_that_is_cut_off_takes_nothing_back():
    llm = Llm([{"tokens": [5, 6, 7]}, {"tokens": [5, 6], "finish": "stop", "stop": 7}])
    last = read(llm)[-1]
    assert (last.tokens, last.finish, last.stop_token) == ((), "stop", 7)


def test_a_word_that_stopped_it_is_no_token():
    llm = Llm([{"tokens": [5], "finish": "stop", "stop": "word"}])
    assert read(llm)[-1].stop_token is None


@pytest.mark.parametrize(
    ("told", "mean"),
    [
        ({"avg_decoded_tokens_per_iter": 1.5, "decoding_iter": 9}, 1.5),
        ({"avg_decoded_tokens_per_iter": None, "decoding_iter": 2}, 2.0),
        ({"decoding_iter": 4}, 1.0),
        ({"decoding_iter": 0}, None),
        ({}, None),
    ],
)
def test_the_mean_is_told_or_follows_from_the_iterations(told, mean):
    llm = Llm([{"tokens": [5, 6, 7, 8], "finish": "length", **told}])
    assert read(llm)[-1].per_iteration == mean


def perf(drafted, accepted):
    counts = {"total_draft_tokens": drafted, "total_accepted_draft_tokens": accepted}
    return SimpleNamespace(speculative_decoding=SimpleNamespace(**counts))


@pytest.mark.parametrize(
    ("told", "drafted"),
    [(perf(9, 6), 9), (perf(0, 0), None), (perf(6, 9), None), (None, None)],
    ids=["filled", "zero", "nonsense", "absent"],
)
def test_a_requests_own_counters_are_asked_for_and_read(told, drafted):
    llm = Llm([{"tokens": [5]}, {"tokens": [5, 6], "finish": "length", "perf": told}])
    first, last = read(llm, counters=True)
    ((_, params, _),) = llm.asked
    assert params.return_perf_metrics is True
    assert first.counted is None
    assert (last.counted.drafted if last.counted else None) == drafted


def test_counters_that_are_not_filled_are_not_asked_for():
    llm = Llm([{"tokens": [5], "finish": "length", "perf": perf(9, 6)}])
    (only,) = read(llm)
    ((_, params, _),) = llm.asked
    assert not hasattr(params, "return_perf_metrics")
    assert only.counted is None


def test_leaving_early_aborts_the_request():
    llm = Llm([{"tokens": [5]}, {"tokens": [5, 6]}, {"tokens": [5, 6, 7]}])
    assert len(read(llm, most=2)) == 2
    assert llm.result.aborted


@pytest.mark.parametrize("later", [False, True])
def test_what_it_raises_is_told_with_the_request(later):
    error = ValueError("too long")
    llm = Llm([{"tokens": [5]}, error]) if later else Llm(refuses=error)
    with pytest.raises(RunError, match="request r: TensorRT-LLM says: too long"):
        read(llm)


def test_a_guide_is_made_an_object_of_the_vendors(monkeypatch):
    module = ModuleType("tensorrt_llm.llmapi")
    module.GuidedDecodingParams = lambda **given: ("guide", given)
    for name in ("tensorrt_llm", module.__name__):
        monkeypatch.setitem(sys.modules, name, module)
    llm = Llm([{"tokens": [5], "finish": "length"}])
    read(llm, controls={"guided_decoding": {"json": {"type": "object"}}})
    ((_, params, _),) = llm.asked
    assert params.guided_decoding == ("guide", {"json": {"type": "object"}})
