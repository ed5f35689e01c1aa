"""What a killed ``trtspec serve`` left running is ended by the next one."""

import json
import os
import subprocess
import sys
import threading

import pytest

from tests.trtllm.pytorch.launch.conftest import wait_until
from trtspec.build.left_running import NOTE, VARIABLE
from trtspec.errors import UsageError
from trtspec.trtllm.pytorch.launch import state as state_module
from trtspec.trtllm.pytorch.launch.state import (
    fresh_log,
    server_folder,
    servers_folder,
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path))


@pytest.fixture
def worker():
    """A process as a dead server leaves it behind."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        env={**os.environ, VARIABLE: "of-a-dead-server"},
    )
    yield process
    process.kill()
    process.wait()


def note(folder):
    folder.mkdir(parents=True, exist_ok=True)
    content = {"mark": "of-a-dead-server", "since": 0.0}
    (folder / NOTE).write_text(json.dumps(content))


def test_what_a_dead_server_left_is_ended(worker):
    note(servers_folder() / "other-8000")
    with server_folder("tiny", 8000):
        wait_until(lambda: worker.poll() is not None)
    assert not (servers_folder() / "other-8000" / NOTE).exists()


def test_server_with_an_owner_is_left_alone(worker):
    with server_folder("tiny", 8000) as folder:
        note(folder)
        with server_folder("tiny", 8001):
            assert worker.poll() is None
        assert (folder / NOTE).exists()


def test_same_artifact_on_the_same_port_is_refused():
    refused = pytest.raises(UsageError, match="another trtspec serve serves tiny on po")
    with server_folder("tiny", 8000), refused:
        server_folder("tiny", 8000).__enter__()
    with server_folder("tiny", 8000):
        pass  # the first has let go


def test_log_of_the_time_before_is_kept(tmp_path):
    fresh_log(tmp_path).write_text("one")
    fresh_log(tmp_path).write_text("two")
    log = fresh_log(tmp_path)
    assert log.read_text() == ""
    assert (tmp_path / "server.log.1").read_text() == "two"


def used(number):
    """Make the folder of a server that was used a while ago."""
    folder = servers_folder() / f"tiny-{number}"
    folder.mkdir(parents=True)
    fresh_log(folder)
    os.utime(folder / "server.log", (number, number))


def kept():
    return {path.name for path in servers_folder().iterdir() if path.is_dir()}


def test_only_the_newest_folders_are_kept():
    for number in range(23):
        used(number)
    with server_folder("tiny", 1):  # an old one that is in use stays
        with server_folder("other", 8000):
            pass
        newest = {f"tiny-{number}" for number in range(4, 23)}
        assert kept() == {"tiny-1", "other-8000"} | newest


def test_log_that_another_start_takes_away_does_no_harm(monkeypatch):
    for number in range(23):
        used(number)
    original = state_module._last_used

    def taken_away(folder):
        (folder / "server.log").unlink(missing_ok=True)
        name, _, number = folder.name.partition("-")
        if name == "tiny":  # older than the one in use, however fast all this goes
            os.utime(folder, (int(number), int(number)))
        return original(folder)

    monkeypatch.setattr(state_module, "_last_used", taken_away)
    with server_folder("other", 8000):
        assert len(kept()) == 20


def test_starts_at_once_do_not_take_one_anothers_folders(monkeypatch):
    monkeypatch.setattr(state_module, "_FOLDERS_KEPT", 1)
    failures = []

    def start(port):
        try:
            for _ in range(5):
                with server_folder("tiny", port) as folder:
                    fresh_log(folder)
                    assert (folder / "server.log").is_file()
        except OSError as error:
            failures.append(error)

    threads = [threading.Thread(target=start, args=(port,)) for port in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
