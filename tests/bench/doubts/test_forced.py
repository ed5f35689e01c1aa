"""Settings that force acceptance leave no claim, wherever they are seen."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, varied
from tests.bench.fakes import plan


def with_environment(**variables: str):
    of = plan(8)
    conditions = of.conditions.model_copy(update={"environment": variables})
    return of.model_copy(update={"conditions": conditions})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS", "3"),
        ("SGLANG_SIMULATE_ACC_LEN", "2.5"),
    ],
)
def test_a_forcing_variable_is_fatal(name, value):
    doubt = found(arm("on", varied), of=with_environment(**{name: value}))[
        "forced-acceptance"
    ]
    assert doubt.fatal
    assert name in doubt.what
    assert value in doubt.what


def test_a_variable_that_the_engine_ignores_is_none():
    off = with_environment(TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS="0")
    assert found(arm("on", varied), of=off) == {}


def test_a_setting_that_a_server_tells_of_is_fatal():
    of = plan(8)
    told = {"speculative_config": {"rejection_sample_method": "synthetic"}}
    arms = tuple(
        a.model_copy(update={"engine": {**a.engine, **told}}) if a.name == "on" else a
        for a in of.arms
    )
    doubt = found(arm("on", varied), of=of.model_copy(update={"arms": arms}))
    assert doubt["forced-acceptance"].fatal
    assert "arm on" in doubt["forced-acceptance"].what
