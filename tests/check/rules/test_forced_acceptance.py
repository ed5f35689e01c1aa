"""Forced acceptance blocks where it is read, and is named where it is not."""

import pytest

from tests.check.samples import subject
from trtspec.check.rules.forced_acceptance import by_variables, forced_acceptance

TLLM = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
SIMULATED = "SGLANG_SIMULATE_ACC_LEN"


@pytest.mark.parametrize(
    ("backend", "name", "severity"),
    [
        ("pytorch", TLLM, "blocking"),
        ("pytorch", SIMULATED, "note"),
        ("tensorrt", TLLM, "note"),
        ("reference", TLLM, "note"),
    ],
)
def test_a_variable_counts_where_it_is_read(backend, name, severity):
    (finding,) = by_variables({name: "1.6"}, backend)
    assert (finding.rule, finding.severity) == ("forced-acceptance", severity)
    assert finding.where == f"${name}"
    assert finding.snippet == f"unset {name}"
    assert finding.values["value"] == "1.6"


def test_this_process_is_looked_at(monkeypatch):
    monkeypatch.setenv(TLLM, "2")
    (finding,) = forced_acceptance(subject())
    assert finding.values["acceptance_length"] == 3.0
    monkeypatch.delenv(TLLM)
    assert not list(forced_acceptance(subject()))


def test_settings_of_another_engine_that_force_it_are_refused():
    settings = {
        "speculative_config": {
            "rejection_sample_method": "synthetic",
            "synthetic_acceptance_length": 3,
        }
    }
    options = {"llm_args": settings}
    (finding,) = forced_acceptance(subject(backend="pytorch", pytorch=options))
    assert (finding.severity, finding.where) == ("blocking", "pytorch.llm_args")
    assert finding.action == "delete rejection_sample_method"
