"""Forced acceptance is seen with the right count, and refused by its name (case 20)."""

import pytest

from trtspec.errors import UsageError
from trtspec.forced_acceptance import (
    SGLANG,
    TENSORRT_LLM,
    forced_settings,
    forced_variables,
    refuse_forced_acceptance,
)

TLLM = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
SIMULATED = "SGLANG_SIMULATE_ACC_LEN"


@pytest.mark.parametrize(
    ("name", "text", "length"),
    [
        (TLLM, "1.6", 2.6),
        (TLLM, "3", 4.0),
        (TLLM, " 2 ", 3.0),
        (SIMULATED, "2.49", 2.49),
        (SIMULATED, "3", 3.0),
    ],
)
def test_engines_count_the_bonus_token_differently(name, text, length):
    (forced,) = forced_variables({name: text, "PATH": "/bin"})
    assert forced.acceptance_length == pytest.approx(length)
    assert f"{text.strip()!r} forces" in str(forced)
    assert f"acceptance length {length:g}" in str(forced)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (TLLM, "0"),
        (TLLM, ""),
        (TLLM, "many"),
        (TLLM, "nan"),
        (SIMULATED, "-1"),
        (SIMULATED, "0"),
        ("SGLANG_SIMULATE_ACC_METHOD", "match-expected"),
    ],
)
def test_what_the_engine_ignores_is_not_in_force(name, text):
    assert forced_variables({name: text}) == ()


def test_all_that_are_in_force_are_refused_by_name():
    environment = {TLLM: "1.6", SIMULATED: "3"}
    with pytest.raises(UsageError) as err:
        refuse_forced_acceptance(environment, (TENSORRT_LLM, SGLANG), "no claim")
    first, second = err.value.problems
    assert first.where == f"${TLLM}"
    assert "TensorRT-LLM (acceptance length 2.6): no claim" in first.what
    assert first.action == f"unset {TLLM}"
    assert second.where == f"${SIMULATED}"


def test_variables_of_other_engines_do_not_count():
    refuse_forced_acceptance({SIMULATED: "3"}, (TENSORRT_LLM,), "no claim")


@pytest.mark.parametrize(
    ("settings", "length"),
    [
        (
            {
                "rejection_sample_method": "synthetic",
                "synthetic_acceptance_length": 2.5,
            },
            2.5,
        ),
        (
            {
                "speculative_config": {
                    "rejection_sample_method": "synthetic",
                    "synthetic_acceptance_rates": [0.9, 0.6, 0.3],
                }
            },
            2.8,
        ),
        (
            {"speculative_config": '{"rejection_sample_method": "synthetic"}'},
            None,
        ),
    ],
)
def test_synthetic_acceptance_of_vllm_is_found_in_its_settings(settings, length):
    (forced,) = forced_settings(settings)
    assert forced.switch.engine == "vLLM"
    assert forced.acceptance_length == (length and pytest.approx(length))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rejection_sample_method": "standard", "synthetic_acceptance_length": 2},
        {"speculative_config": "{not json"},
    ],
)
def test_settings_without_it_force_nothing(settings):
    assert list(forced_settings(settings)) == []


SYNTHETIC = {"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2}


def test_it_is_found_in_lists_too_in_the_order_of_the_settings():
    other = SYNTHETIC | {"synthetic_acceptance_length": 3}
    found = forced_settings({"a": [1, [SYNTHETIC]], "b": other})
    assert [forced.acceptance_length for forced in found] == [2, 3]


def test_it_is_found_however_deep_it_stands():
    settings = SYNTHETIC
    for _ in range(5_000):
        settings = {"inner": [settings]}
    (forced,) = forced_settings(settings)
    assert forced.acceptance_length == 2
