"""Servers that behave well or badly, and the certainty that nothing of them is left."""

import contextlib
import json
import sys
import time
from pathlib import Path

import psutil
import pytest
from packaging.version import Version

from trtspec.build.progress import Progress
from trtspec.trtllm.pytorch.launch import server as server_module
from trtspec.trtllm.pytorch.launch import supervise as supervise_module
from trtspec.trtllm.pytorch.launch.address import free_address
from trtspec.trtllm.pytorch.launch.http_client import ask
from trtspec.trtllm.pytorch.launch.patience import Patience
from trtspec.trtllm.pytorch.launch.server import Server
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest

FAKE = Path(__file__).with_name("fake_server.py")
V1_2 = Version("1.2.1")
OF_TEST = "TRTSPEC_TESTS_FOLDER"
"""In the environment of all that one test starts."""


def running_for(test):
    """Processes that a test has started, and what those have started."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            alive = process.status() != psutil.STATUS_ZOMBIE
            if alive and process.environ().get(OF_TEST) == str(test):
                found.append(process)
    return found


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


class Rig:
    """Makes servers whose program is the fake, and keeps what was told."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.address = free_address("127.0.0.1")
        self.told, self.statuses = [], []
        self.progress = Progress(self.told.append, self.statuses.append)
        self.stop = StopRequest()
        self.log = folder / "server.log"
        self.log.touch()
        self.says = folder / "asked.jsonl"
        monkeypatch.setenv(OF_TEST, str(folder))

    def behave(self, **fake):
        fake = {"says": str(self.says), **fake}
        self.monkeypatch.setenv("FAKE", json.dumps(fake))

    def make(self, **patience):
        command = (sys.executable, str(FAKE), "serve", "--port", self.address.port)
        return Server(
            tuple(map(str, command)),
            self.folder,
            address=self.address,
            version=V1_2,
            log=self.log,
            folder=self.folder,
            patience=Patience(**{"start": 20, "stall": 20, "grace": 10, **patience}),
            stop=self.stop,
            progress=self.progress,
        )

    def asked(self):
        lines = self.says.read_text().splitlines() if self.says.exists() else []
        return [json.loads(line) for line in lines]

    def kill_by_request(self, server):
        """Have a server that behaves so die; gives its process id."""
        assert ask(server.address, "/v1/completions", timeout=20, body={}) is None
        return server.pid

    def left(self):
        return running_for(self.folder)


@pytest.fixture
def rig(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "_LOOK_SECONDS", 0.02)
    # the fake binds with SO_REUSEADDR: it need not wait for old connections
    monkeypatch.setattr(server_module, "is_closing", lambda address: False)
    monkeypatch.setattr(supervise_module, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(supervise_module, "_LOOKS_PER_QUESTION", 2)
    rig = Rig(tmp_path, monkeypatch)
    rig.behave()
    yield rig
    assert rig.left() == [], "a process was left running"
