"""Where the two bases choose differently is said."""

from __future__ import annotations

from tests.tune.made import candidate, costs, trace
from trtspec.tune.decide import Evidence
from trtspec.tune.price.band import Doubt, doubts
from trtspec.tune.price.overhead import Overhead
from trtspec.tune.price.priced import Priced, Provenance

FLAT = [1.0, 1.01, 1.02, 1.03, 1.04]
STEEP = [1.0, 2.1, 3.2, 4.3, 5.4]
TRACES = [trace([2] * 40, prompt_id=str(n)) for n in range(4)]
EVIDENCE = Evidence(candidate(), TRACES, costs({1: FLAT}, 0.01))


def priced(upper):
    return Priced(
        gpu="H200",
        gpus=1,
        context_tokens=1000,
        costs=costs({1: FLAT, 64: FLAT}, 0.01),
        upper=costs(upper, 0.01),
        verify=Provenance(source="roofline"),
        draft=None,
        overhead=Overhead(round_seconds=0.0),
        scale=1.0,
        notes=(),
    )


def test_bases_that_choose_alike_leave_no_doubt():
    assert doubts(priced({1: FLAT, 64: FLAT}), EVIDENCE, [1, 64]) == []


def test_a_batch_at_which_they_differ_is_named_with_both_lengths():
    found = doubts(priced({1: FLAT, 64: STEEP}), EVIDENCE, [1, 64])
    assert [(doubt.batch, doubt.upper_length) for doubt in found] == [(64, 0)]
    assert found[0].length >= 2


def test_a_doubt_is_told_in_a_line():
    assert Doubt(64, 3, 0).told() == (
        "64 running: draft length 3, or 0 if verification reads the cache once per "
        "token"
    )
