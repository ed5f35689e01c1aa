"""With a stand-in for aiconfigurator_core, or without any."""

from __future__ import annotations

import sys

import pytest

from tests.tune.price.fake_kernels import NAME, modules


@pytest.fixture
def fake(monkeypatch):
    """Put the stand-in in place of the package, wherever that is installed."""
    for name in [name for name in sys.modules if name.split(".")[0] == NAME]:
        monkeypatch.delitem(sys.modules, name)
    for name, module in modules().items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def absent(monkeypatch):
    """Let every import of the package fail."""
    for name in modules():
        monkeypatch.setitem(sys.modules, name, None)
