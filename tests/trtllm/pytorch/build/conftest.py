"""Keeps the tests away from the user's own caches."""

import pytest


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("HF_HUB_CACHE", str(caches / "hub"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def engines(tmp_path):
    """The directory of the artifacts; it does not exist yet."""
    return tmp_path / "engines"
