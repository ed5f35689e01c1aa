"""What TensorRT-LLM counted is told in words and for machines, and fails no run."""

from __future__ import annotations

import httpx
import pytest

from tests.trtllm.pytorch.run.fakes import ScriptedSource, ask, delta, finish
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.metrics import Acceptance


def whole(request):
    return [delta(*range(5, 15), per_iteration=2.5, finish="length")]


def test_notes_are_what_tensorrt_llm_counted(open_on):
    runner = open_on(ScriptedSource(whole), "eagle3")
    (note,) = runner.notes()
    assert note.text == (
        "acceptance rate 25.0% (1 of 4 drafted tokens), acceptance length 1.50 over 2 "
        "verification steps (from a script)"
    )
    assert note.record == {
        "acceptance": {
            "source": "a script",
            "drafted": 4,
            "accepted": 1,
            "steps": 2,
            "acceptance_rate": 0.25,
            "acceptance_length": 1.5,
            "note": None,
            "unavailable": None,
        }
    }
    nothing = ScriptedSource(whole, counted=Acceptance(source="x", unavailable="old"))
    (note,) = open_on(nothing, "eagle3").notes()
    assert note.text == "acceptance not available from x: old"
    assert note.record["acceptance"]["unavailable"] == "old"
    assert note.record["acceptance"]["drafted"] is None
    assert open_on(ScriptedSource(whole)).notes() == ()


@pytest.mark.parametrize(
    "error", [httpx.ConnectError("refused"), RunError("9 of 4"), OSError("gone")]
)
def test_counters_that_cannot_be_read_fail_nothing(open_on, error):
    runner = open_on(ScriptedSource(whole, counted=error), "eagle3")
    finish(runner, ask(tokens=10))
    (note,) = runner.notes()
    said = "acceptance not available from a script: its counters cannot be read: "
    assert note.text == f"{said}{error}"


def test_counters_are_read_as_the_engine_was_told_to_write_them(open_on):
    told = {"attention_dp": True, "llm_args": {"iter_perf_stats_interval": 5}}
    for options, read_as in ((None, (1, False)), (told, (5, True))):
        source = ScriptedSource(whole)
        open_on(source, "eagle3", pytorch=options).notes()
        assert source.read_as == read_as
