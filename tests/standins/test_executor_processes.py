"""Which processes, machines and engine folders the executor stand-in refuses."""

import shutil
from pathlib import Path

import pytest

from tests.standins.engines import PATTERNS, engine, external, refused


def orchestrator(session, worker=None, **options):
    module = session.module
    path = str(session.standin.worker if worker is None else worker)
    parallel = module.ParallelConfig(
        communication_mode=module.CommunicationMode.ORCHESTRATOR,
        orchestrator_config=module.OrchestratorConfig(True, path),
        **options,
    )
    return {"parallel_config": parallel}


def test_two_executors_need_orchestrator_mode(session):
    with session.open(engine()):
        for options in ({}, orchestrator(session)):
            with pytest.raises(RuntimeError, match="orchestrator"):
                session.open(external(), **options)
    with session.open(engine(), **orchestrator(session)):
        session.open(external(), **orchestrator(session)).shutdown()
    session.open(engine()).shutdown()


def test_a_missing_worker(session, tmp_path):
    refused(session, engine(), "worker", **orchestrator(session, tmp_path / "no"))


def test_devices_and_processes_must_hold_every_rank(session, monkeypatch):
    folder = engine(convert=("--tp_size", "2"))
    refused(session, folder, r"1 != 2")
    pattern = "device_ids"
    refused(session, folder, pattern, **orchestrator(session, device_ids=[0]))
    refused(session, folder, pattern, **orchestrator(session, device_ids=[0, 7]))
    session.open(folder, **orchestrator(session, device_ids=[0, 1])).shutdown()
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    session.open(folder).shutdown()


def test_an_engine_of_another_version_or_gpu(session, monkeypatch):
    pattern = PATTERNS["engine_of_other_version"]
    refused(session, engine(version="0.17.0"), pattern)
    monkeypatch.setenv("STANDIN_GPU_CC", "8.9")
    refused(session, engine(), pattern)


def test_an_engine_with_a_missing_part(session, tmp_path):
    folder = Path(shutil.copytree(engine(), tmp_path / "engine"))
    (folder / "rank0.engine").unlink()
    refused(session, folder, "Error opening engine file")
    (folder / "config.json").unlink()
    refused(session, folder, "Error opening json file")


def test_failures_can_be_asked_for(session, monkeypatch):
    monkeypatch.setenv("STANDIN_FAIL", "run:out_of_memory")
    refused(session, engine(), "out of memory")


def test_nothing_can_be_asked_of_an_executor_that_is_shut_down(session):
    with session.open(engine()) as executor:
        assert executor.can_enqueue_requests()
    assert not executor.can_enqueue_requests()
    with pytest.raises(RuntimeError, match="shut down"):
        executor.enqueue_request(session.request())


def test_what_is_not_modelled_is_not_ignored(session):
    penalty = session.sampling(repetition_penalty=1.2)
    with session.open(engine()) as executor:
        for options in ({"sampling_config": penalty}, {"bad_words": [[1]]}):
            with pytest.raises(NotImplementedError):
                executor.enqueue_request(session.request(**options))
