"""What would make a measurement mean something else, and counters that mislead."""

import json

import pytest
import yaml
from click.testing import CliRunner

from tests.check.kinds.asking import (
    EAGLE3,
    NEWEST,
    NGRAM,
    NONE,
    ask,
    bad,
    faults,
    good,
    innocents,
    on_pytorch,
    passes,
    tells,
)
from trtspec.cli.main import cli
from trtspec.errors import UsageError
from trtspec.trtllm.pytorch.metrics import from_iterations, from_response

TLLM = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
SGLANG = "SGLANG_SIMULATE_ACC_LEN"
LOAD = {"concurrency": [1, 8, 32]}


def synthetic(**settings):
    """Give vLLM's settings of forced acceptance among the server's keys."""
    return on_pytorch(llm_args={"rejection_sample_method": "synthetic", **settings})


@pytest.mark.parametrize(
    ("variable", "value", "asked", "told"),
    [
        (TLLM, "2", ask(NGRAM, "1.2.1"), ("blocking", "acceptance length 3")),
        (TLLM, "0.5", ask(EAGLE3, NEWEST), ("blocking", "acceptance length 1.5")),
        (TLLM, "3", ask(NGRAM), ("note", "acceptance length 4", "bench")),
        (SGLANG, "3.2", ask(NGRAM, NEWEST), ("note", "acceptance length 3.2", "bench")),
    ],
)
def test_a_variable_that_forces_acceptance(
    place, monkeypatch, variable, value, *, asked, told
):
    """vllm recipes PR 626; InferenceX PRs 2667, 2659; ATOM PR 1850."""
    monkeypatch.setenv(variable, value)
    found = place.check(**asked)
    finding = tells(found, "forced-acceptance", *told, repr(value))
    assert finding.where == f"${variable}"
    assert finding.snippet == f"unset {variable}"


@pytest.mark.parametrize(
    ("command", "variable", "value", "length"),
    [
        ("serve", TLLM, "3", "4"),
        ("bench", TLLM, "0.25", "1.25"),
        ("bench", SGLANG, "2.75", "2.75"),
    ],
)
def test_serving_and_measuring_refuse_it(
    tmp_path, monkeypatch, command, *, variable, value, length
):
    monkeypatch.setenv(variable, value)
    head = {"schema": "trtspec/v1", "name": "forced", "target": {"model": "./t"}}
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump({**head, "speculation": NGRAM}))
    error = CliRunner().invoke(cli, [command, str(path)]).exception
    assert isinstance(error, UsageError)
    assert f"${variable}" in str(error)
    assert f"acceptance length {length}" in str(error)


@pytest.mark.parametrize("value", ["0", "", "off"])
def test_a_variable_that_forces_nothing(place, monkeypatch, value):
    monkeypatch.setenv(TLLM, value)
    passes(place.check(NGRAM, NEWEST), "forced-acceptance")


@faults(
    bad(
        "forced acceptance among the server's keys",
        ask(EAGLE3, NEWEST, sections=synthetic(synthetic_acceptance_length=2.5)),
        "forced-acceptance", "blocking", "2.5", "vLLM",
    ),
    bad(
        "a load that waits in the queue",
        ask(NGRAM, NEWEST, requests=[{}], sections={"workload": LOAD}),
        "concurrency", "warning", "concurrency 32", "max_batch_size 8",
    ),
    bad(
        "a load at which nothing is drafted",
        ask(
            {**NGRAM, "draft_length": {4: 3}}, NEWEST,
            requests=[{}], sections={"workload": LOAD},
        ),
        "concurrency", "note", "proposes nothing at concurrency 8, 32",
    ),
    bad(
        "outputs that end before they are as long as asked for",
        ask(
            NGRAM, NEWEST, requests=[{}],
            sections={"workload": {"output_tokens": 1500}},
        ),
        "output-tokens", "warning", "1024 of the 1500",
    ),
    bad(
        "token ids in place of text",
        ask(NGRAM, NEWEST, requests=[{"prompt": [1, 2, 3]}]),
        "prompts", "blocking", "prompt is a list", "text",
    ),
    bad(
        "a field that is close to one",
        ask(NGRAM, NEWEST, requests=[{"temprature": 0.7}]),
        "request-field", "warning", "temprature", "temperature",
    ),
)  # fmt: skip
def test_a_workload_that_measures_something_else(place, asked, told):
    """vLLM PR 44519, #47297; rMLX 436; tt-inference-server 3555."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "a load that fits",
        ask(
            {**NGRAM, "draft_length": {8: 3}},
            NEWEST,
            requests=[{}],
            sections={"workload": {"concurrency": [1, 8]}},
        ),
    ),
    good(
        "remarks on the prompts",
        ask(NGRAM, NEWEST, requests=[{"id": "a", "category": "code"}]),
    ),
    good("a load without drafts to speak of", ask(NONE, NEWEST, requests=[{}])),
)
def test_a_workload_that_is_honest(place, asked, rules):
    passes(place.check(**asked), "concurrency", "output-tokens", "request-field")


def test_bench_refuses_a_recipe_that_has_no_speculation(tmp_path):
    path = tmp_path / "recipe.yaml"
    head = {"schema": "trtspec/v1", "name": "off", "target": {"model": "./t"}}
    path.write_text(yaml.safe_dump({**head, "speculation": NONE}))
    error = CliRunner().invoke(cli, ["bench", str(path)]).exception
    assert "none" in str(error)


def record(drafted, accepted, requests=1):
    """Give a record of one iteration, as the server does."""
    counted = {
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": requests,
    }
    return {"iter": 1, "specDecodingStats": counted}


@pytest.mark.parametrize(
    "records",
    [
        [],
        [record(0, 0, 0), record(0, 0, 0)],
        [{"iter": 1}],
    ],
    ids=["no records", "counters at zero", "no counters"],
)
def test_counters_of_nothing_are_no_rate_of_zero(records):
    """TensorRT-LLM PRs 17082, 19311; vLLM 7301."""
    found = from_iterations(records)
    assert found.acceptance_rate is None
    assert "0%" not in found.says()


def test_drafted_tokens_are_those_proposed_not_the_configured_most():
    """TensorRT-LLM PR 14724: two of seven steps had nothing to propose."""
    found = from_iterations([*[record(3, 2)] * 4, record(1, 0), *[record(0, 0, 0)] * 2])
    assert (found.drafted, found.accepted, found.steps) == (13, 8, 5)
    assert found.acceptance_rate == pytest.approx(8 / 13)
    assert found.acceptance_length == pytest.approx(1 + 8 / 5)


def test_an_iteration_with_more_accepted_than_drafted_does_not_count():
    """TensorRT-LLM leaves draft tokens of id 0 out of the drafted ones."""
    found = from_iterations([record(3, 2), record(3, 5)])
    assert (found.drafted, found.accepted) == (3, 2)
    assert "an iteration is left out" in found.says()


def test_tokens_per_step_stand_in_for_counters_and_say_so():
    """EAGLE 195: accepted plus one, averaged over the steps; the prefill is none."""
    found = from_response(2.2, 11)  # 11 tokens in 5 iterations, one of them the prompt
    assert (found.steps, found.accepted) == (4, 6)
    assert found.acceptance_length == pytest.approx(2.5)
    assert found.acceptance_rate is None
    assert "not available" in found.says()
    assert json.dumps(found.note)
