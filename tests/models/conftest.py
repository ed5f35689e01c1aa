"""Keeps the tests away from the user's own caches."""

import pytest


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("HF_HUB_CACHE", str(caches / "hub"))
    monkeypatch.delenv("TRTSPEC_DEMO_WHEEL", raising=False)
