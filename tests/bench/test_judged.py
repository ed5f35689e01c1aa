"""What a load's kind and its doubts do to verdicts and break-evens."""

from __future__ import annotations

import pytest

from tests.bench.fakes import plan
from tests.bench.test_compare import arm
from trtspec.bench import summary
from trtspec.bench.cells import Doubt
from trtspec.bench.records import Failure, Load
from trtspec.bench.summary import Raw, break_evens, summarize


@pytest.fixture(autouse=True)
def _no_doubts(monkeypatch):
    """These records are made up, which a look at their texts would find out."""
    monkeypatch.setattr(summary, "doubts_of", lambda *_: ())


POISSON = Load(arrivals="poisson", rate=2.0)
LADDER = (Load(concurrency=1), Load(concurrency=4))


def planned(*loads):
    made = plan(12, repeats=3)
    settings = made.settings.model_copy(update={"loads": loads})
    arms = tuple(a for a in made.arms if a.role != "control")
    return made.model_copy(update={"settings": settings, "arms": arms})


def measured(load, speed, *, stretch=True):
    """An off arm and one that is so much faster.

    :param stretch: whether blocks last as long as their requests; in an open loop they
        last as long as the arrivals.
    """
    blocks, samples = [], []
    for name, factor in (("off", 1.0), ("on", speed)):
        data = arm(name, 12, speed=factor, seed=len(name), drafted=8)
        length = data.blocks[0].wall_seconds if stretch else 100.0
        for block in data.blocks:
            wall = block.wall_seconds if stretch else length
            blocks.append(
                block.model_copy(update={"load": load.key, "wall_seconds": wall})
            )
        samples += [s.model_copy(update={"load": load.key}) for s in data.samples]
    return Raw(blocks, samples)


def joined(*parts):
    return Raw(
        [b for p in parts for b in p.blocks],
        [s for p in parts for s in p.samples],
        [f for p in parts for f in p.failures],
    )


def test_an_open_loop_is_judged_by_its_latency():
    raw = measured(POISSON, 1.5, stretch=False)
    (cell,) = summarize(planned(POISSON), raw)
    comparison = cell.comparisons["on"]
    assert comparison.ratios["output_throughput"].estimate == pytest.approx(1.0)
    assert comparison.verdict.word == "faster"


def test_a_closed_loop_is_judged_by_its_throughput():
    (cell,) = summarize(planned(LADDER[0]), measured(LADDER[0], 1.5))
    assert cell.comparisons["on"].verdict.word == "faster"


def test_a_ladder_has_a_break_even():
    made = planned(*LADDER)
    raw = joined(measured(LADDER[0], 1.4), measured(LADDER[1], 0.8))
    found = break_evens(made, summarize(made, raw))["on"]
    assert found.kind == "crossing"
    assert 1 < found.concurrency < 4


def test_a_rung_with_a_fatal_doubt_leaves_no_break_even(monkeypatch):
    doubt = Doubt(id="forced", what="acceptance is forced", fatal=True)
    monkeypatch.setattr(summary, "doubts_of", lambda *_: (doubt,))
    made = planned(*LADDER)
    raw = joined(measured(LADDER[0], 1.4), measured(LADDER[1], 0.8))
    found = break_evens(made, summarize(made, raw))["on"]
    assert found.kind == "no claim"
    assert "concurrency 1, 4" in found.reason


def test_a_rung_that_failed_leaves_no_break_even():
    made = planned(*LADDER, Load(concurrency=8))
    failed = Failure(arm="on", block=1, load="c8", prompt_id="p1", what="timed out")
    raw = joined(
        measured(LADDER[0], 1.4), measured(LADDER[1], 0.8), Raw(failures=[failed])
    )
    found = break_evens(made, summarize(made, raw))["on"]
    assert found.kind == "no claim"
    assert "concurrency 8" in found.reason
