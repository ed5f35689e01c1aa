"""Laps split the time of a step, and lose none of it."""

from __future__ import annotations

import pytest

from trtspec.reference import laps


def test_laps_of_one_kind_add_up(monkeypatch):
    clock = iter([10.0, 11.0, 13.0, 16.0, 20.0])
    monkeypatch.setattr(laps.time, "perf_counter", lambda: next(clock))
    split = laps.Laps()
    for kind in ("draft", "forward", "draft"):
        split.end(kind)
    assert split["draft"] == pytest.approx(1 + 3)
    assert split["forward"] == pytest.approx(2)
    assert split["nothing"] == 0.0
    assert split.total == pytest.approx(10)
