"""What a front needs of the launcher: to hear of deaths, other GPUs, a free port."""

from __future__ import annotations

import time

import pytest

from tests.trtllm.pytorch.launch.conftest import wait_until
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.launch.process import ServerProcess
from trtspec.trtllm.pytorch.launch.server import Stopped
from trtspec.trtllm.pytorch.launch.supervise import Restarts, supervise


def test_death_is_told_at_once_and_again_with_the_wait(rig):
    rig.behave(dies_when_asked=True)
    heard = []
    with pytest.raises(RunError, match="exit status 3"):
        supervise(
            rig.make,
            rig.kill_by_request,
            Restarts(1, first_wait=0.01),
            rig.stop,
            rig.progress,
            went_down=lambda failure, wait: heard.append((str(failure), wait)),
        )
    assert [wait for _, wait in heard] == [0.0, 0.01, 0.0]
    assert all("exit status 3" in text for text, _ in heard)


def test_server_that_is_asked_to_end_has_not_gone_down(rig):
    heard = []
    supervise(
        rig.make,
        lambda server: rig.stop.make(),
        Restarts(),
        rig.stop,
        rig.progress,
        went_down=lambda failure, wait: heard.append(wait),
    )
    assert heard == []


def test_variables_stand_over_our_own(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    monkeypatch.setenv("OTHER", "kept")
    log = tmp_path / "log"
    process = ServerProcess(
        ["sh", "-c", "echo $CUDA_VISIBLE_DEVICES $OTHER"],
        directory=tmp_path,
        log=log,
        folder=tmp_path,
        variables={"CUDA_VISIBLE_DEVICES": "2"},
    )
    try:
        wait_until(lambda: process.ending)
    finally:
        process.close()
    assert log.read_text() == "2 kept\n"


def test_variables_reach_the_servers_process(rig):
    server = rig.make()
    server._variables = {"FRONT": "1"}
    with server:
        server.start()
        (process,) = rig.left()
        assert process.environ()["FRONT"] == "1"


def test_work_that_needs_the_server_ends_with_it(rig):
    rig.behave(dies_when_asked=True)
    with rig.make() as server:
        server.start()

        def work():
            rig.kill_by_request(server)
            raise RunError("no answer")

        with pytest.raises(RunError, match="exit status 3 in the look"):
            server.meanwhile(work, "in the look")


def test_work_gives_its_result_or_its_own_error(rig):
    def fails():
        raise RunError("it is wrong")

    with rig.make() as server:
        server.start()
        assert server.meanwhile(lambda: 3, "in the look") == 3
        with pytest.raises(RunError, match="it is wrong"):
            server.meanwhile(fails, "in the look")
        rig.stop.make()
        with pytest.raises(Stopped):
            server.meanwhile(lambda: time.sleep(0.3), "in the look")
