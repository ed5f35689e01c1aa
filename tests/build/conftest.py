"""Keeps the tests away from the user's own caches, and gives places to build in."""

import pytest

from tests.build.projects import Lines


@pytest.fixture(autouse=True)
def _own_caches(caches, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(caches / "trtspec"))
    monkeypatch.setenv("HF_HUB_CACHE", str(caches / "hub"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("TRTSPEC_DEMO_WHEEL", raising=False)


@pytest.fixture
def engines(tmp_path):
    """The directory of the artifacts; it does not exist yet."""
    return tmp_path / "engines"


@pytest.fixture
def lines():
    """Keeps what is told; ``lines.progress`` is to be passed on."""
    return Lines()
