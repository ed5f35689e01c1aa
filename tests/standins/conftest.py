"""Fixtures of the executor's tests."""

from __future__ import annotations

import pytest

from tests.standins.engines import Session, bench


@pytest.fixture
def session(monkeypatch):
    """The newest version with the backend, active in this process."""
    here = bench()
    here.standin.activate(monkeypatch)
    return Session(here.standin)
