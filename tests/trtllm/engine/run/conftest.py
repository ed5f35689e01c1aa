import time

import pytest

from tests.trtllm.engine.run.artifacts import Opener
from tests.trtllm.engine.run.fakes import install


@pytest.fixture(autouse=True)
def _all_gpus_visible(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.fixture
def bindings(monkeypatch):
    """Fake bindings of TensorRT-LLM 1.2.1."""
    return install(monkeypatch)


@pytest.fixture
def open_engine(bindings, tmp_path):
    """Opens a runner on fake engines; see ``Opener``."""
    opener = Opener(tmp_path)
    yield opener
    for runner in opener.opened:
        runner.close()


class Clock:
    """Stands still until it is told that time has passed, in seconds."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    """What ``time.perf_counter`` tells in this test."""
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock
