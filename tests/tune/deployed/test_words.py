"""What is said of traces that are not of the engine that ran."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.tune.made import candidate
from tests.tune.made_result import candidate as found
from tests.tune.made_result import load, measured
from trtspec.tune.deployed.words import acceptance_notes, untraced_note


def confirmed(told, seen):
    one = load(1, measured=measured(acceptance_length=seen), acceptance_length=told)
    return SimpleNamespace(candidate=found(loads=(one,)))


@pytest.mark.parametrize(
    ("told", "seen", "noted"),
    [(2.0, 2.0, 0), (2.0, 2.09, 0), (2.0, 2.2, 1), (2.0, 1.8, 1), (2.0, None, 0)],
)
def test_acceptance_that_differs_is_noted(told, seen, noted):
    notes = acceptance_notes(confirmed(told, seen))
    assert len(notes) == noted
    if noted:
        assert f"{told:.2f} by the traces, {seen:.2f} in the bench" in notes[0]


def test_without_a_bench_there_is_nothing_to_compare():
    assert acceptance_notes(None) == []


def test_of_a_candidate_without_a_trace_it_is_said_where_its_figures_come_from():
    note = untraced_note(replace(candidate(4), no_twin="too large"))
    assert "too large" in note
    assert "4 draft tokens" in note
