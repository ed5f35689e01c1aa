"""Variables that force acceptance, where they are read and where they are not."""

from __future__ import annotations

import pytest

from tests.verify.gate.asking import SAMPLED, judged, of, read, recipe
from trtspec.verify.gate import gate

FORCED = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
SIMULATED = "SGLANG_SIMULATE_ACC_LEN"
GREEDY = "SGLANG_NGRAM_FORCE_GREEDY_VERIFY"


@pytest.mark.parametrize("value", ["1.6", "3", "0.5"])
def test_forced_acceptance_fails_where_it_is_read(value):
    result = judged("pytorch", "eagle3", "1.2.1", environment={FORCED: value})

    assert result.verdict == "fail"
    assert value in of(result, FORCED).meaning
    assert of(result, FORCED).source


@pytest.mark.parametrize("value", ["0", "", "none", "nan"])
def test_a_value_that_forces_nothing_passes_and_is_listed(value):
    result = judged("pytorch", "eagle3", "1.2.1", environment={FORCED: value})

    assert result.verdict == "pass"
    assert of(result, FORCED).value == value


def test_an_unset_variable_is_listed_as_looked_at():
    assert of(judged("pytorch", "eagle3", "1.2.1"), FORCED).value == "unset"


@pytest.mark.parametrize(
    ("backend", "method", "version"),
    [
        ("reference", "ngram", None),
        ("tensorrt", "ngram", "1.2.1"),
        ("pytorch", "none", "1.2.1"),
    ],
)
def test_a_backend_that_does_not_read_it_passes_and_says_so(backend, method, version):
    result = judged(backend, method, version, environment={FORCED: "2"})

    assert result.verdict == "pass"
    assert "ignores" in of(result, FORCED).meaning


def test_an_unknown_environment_of_a_server_is_not_passed():
    from packaging.version import Version

    made = recipe("pytorch", "eagle3")
    result = gate(made, version=Version("1.2.1"), environment=None)

    assert result.verdict == "cannot tell"
    assert FORCED in result.reasons[0]


def test_an_unknown_environment_does_not_matter_where_none_is_read():
    assert gate(recipe("reference", "ngram"), environment=None).verdict == "pass"


@pytest.mark.parametrize(
    ("value", "verdict"), [("2.49", "fail"), ("-1", "pass"), ("0", "pass")]
)
def test_sglang_simulates_acceptance_above_zero(value, verdict):
    result = read(
        "python -m sglang.launch_server --speculative-algorithm EAGLE3",
        0.0,
        environment={SIMULATED: value},
    )

    assert result.verdict == verdict


def test_a_variable_on_the_command_line_counts_though_the_rest_is_unknown():
    line = f"{SIMULATED}=3 python -m sglang.launch_server --speculative-algo EAGLE"

    assert read(line, 0.0).verdict == "fail"


def test_another_variable_on_the_command_line_settles_nothing():
    line = "SGLANG_USE_AITER=1 python -m sglang.launch_server --speculative-algo EAGLE"

    result = read(line, 0.0)
    assert result.verdict == "cannot tell"
    assert SIMULATED in result.reasons[0]


NGRAM = "python -m sglang.launch_server --speculative-algorithm NGRAM"


@pytest.mark.parametrize(
    ("environment", "temperature", "verdict"),
    [
        ({GREEDY: "true"}, 0.7, "fail"),
        ({GREEDY: "1"}, 0.0, "pass"),
        ({GREEDY: "false"}, 0.7, "pass"),
        ({}, 0.7, "pass"),
        (None, 0.7, "cannot tell"),
    ],
)
def test_ngram_drafts_of_sglang_can_be_made_greedy(environment, temperature, verdict):
    result = read(NGRAM, temperature, environment=environment, accelerator="nvidia")

    assert result.verdict == verdict


def test_it_is_not_asked_of_other_drafters():
    line = NGRAM.replace("NGRAM", "EAGLE")
    result = read(line, 0.7, environment={GREEDY: "true"}, accelerator="nvidia")

    assert result.verdict == "pass"


def test_forced_acceptance_wins_over_what_is_not_settled():
    result = judged(
        "pytorch", "mtp", "1.2.1", sampling=SAMPLED, environment={FORCED: "2"}
    )

    assert result.verdict == "fail"
    assert len(result.reasons) == 3
