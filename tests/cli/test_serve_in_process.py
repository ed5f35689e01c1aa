"""An artifact that is served in this process: loaded, looked at, announced, ended."""

from __future__ import annotations

import json
import threading

import httpx
import pytest

from tests.build.projects import write_project
from tests.reference.artifacts import write_model
from tests.serve.serving import until
from trtspec.build.progress import SILENT, Progress
from trtspec.cli.artifact import open_or_build
from trtspec.cli.serve_in_process import Wish, serve_in_process, service_of
from trtspec.errors import UsageError
from trtspec.run.tokens import TextCodec
from trtspec.serve.engine import EngineThread
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.server import listen
from trtspec.serve.limits import ServeLimits
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    folder = tmp_path_factory.mktemp("in-process")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRTSPEC_CACHE", str(folder / "cache"))
        write_model(folder / "toy")  # whose text is good enough for a canary
        recipe = write_project(folder, target="./toy", prompts=("w3 w4 w3 w4", "w7 w8"))
        return open_or_build(recipe, folder / "engines", SILENT)


class Run:
    """One course of a server, in a thread."""

    def __init__(self, artifact, capsys, **wish) -> None:
        self.lines: list[str] = []
        self.stop, self.error = StopRequest(), None
        self._artifact, self._capsys = artifact, capsys
        self._wish = Wish(**{"port": 0, "threads": 1, **wish})
        self.out = ""
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        progress = Progress(self.lines.append)
        engine = EngineThread()
        try:
            serve_in_process(self._artifact, self._wish, engine, self.stop, progress)
        except BaseException as error:  # noqa: BLE001 - told to the test
            self.error = error

    def said(self) -> str:
        """What went to stdout, when the server is ready."""

        def something() -> bool:
            assert self.thread.is_alive(), self.error
            self.out += self._capsys.readouterr().out
            return "\n" in self.out

        until(something)
        return self.out

    def end(self) -> None:
        self.stop.make()
        self.thread.join(30)
        assert not self.thread.is_alive()


@pytest.fixture
def run(artifact, capsys):
    runs = []

    def start(**wish):
        runs.append(Run(artifact, capsys, **wish))
        return runs[-1]

    yield start
    for one in runs:
        one.end()


def test_with_json_there_is_one_line_when_it_is_ready(run, artifact):
    started = run(as_json=True, canary=False)
    document = json.loads(started.said())
    assert document["model"] == artifact.recipe.name
    assert document["artifact"] == artifact.name
    assert document["canary"] is None
    assert httpx.get(f"{document['url']}/ready").status_code == 200
    [card] = httpx.get(f"{document['url']}/v1/models").json()["data"]
    assert card["id"] == document["model"]
    body = {"model": document["model"], "prompt": "w3", "max_tokens": 3}
    answer = httpx.post(f"{document['url']}/v1/completions", json=body)
    assert answer.status_code == 200
    started.end()
    assert started.error is None
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{document['url']}/health")


def test_people_are_given_something_to_copy(run, artifact):
    said = run(canary=False).said()
    assert f"{artifact.name} is served at http://127.0.0.1:" in said
    assert "curl http://127.0.0.1:" in said


def test_the_canary_is_told_and_part_of_the_document(run):
    started = run(as_json=True, keys=ApiKeys(["k"]))
    document = json.loads(started.said())
    assert document["canary"]["verdict"] != "fail"
    assert any("checks passed" in line for line in started.lines)


def test_a_port_that_is_taken_is_told_before_the_model_is_loaded(artifact, monkeypatch):
    from trtspec.cli import serve_in_process as module

    def load(*arguments, **options):
        raise AssertionError("it was loaded")

    monkeypatch.setattr(module, "runner_for", load)
    taken = listen("127.0.0.1", 0)
    wish = Wish(port=taken.getsockname()[1])
    with taken, pytest.raises(UsageError, match="in use"):
        serve_in_process(artifact, wish, EngineThread(), StopRequest(), SILENT)


def test_a_port_is_given_back_if_loading_fails(artifact, monkeypatch):
    from trtspec.cli import serve_in_process as module

    seen = []

    def load(*arguments, **options):
        raise ValueError("no memory")

    def note(host, port):
        seen.append(listen(host, port))
        return seen[-1]

    monkeypatch.setattr(module, "runner_for", load)
    monkeypatch.setattr(module, "listen", note)
    with pytest.raises(ValueError, match="no memory"):
        serve_in_process(artifact, Wish(port=0), EngineThread(), StopRequest(), SILENT)
    assert seen[0].fileno() == -1


def test_the_service_is_what_the_artifact_and_the_wish_say(artifact):
    limits = ServeLimits(waiting=5)
    wish = Wish(limits=limits, keys=ApiKeys(["k"]))
    codec = TextCodec(artifact.target)
    service = service_of(artifact, None, codec, wish)
    identity = service.identity
    assert service.name == "tiny"
    assert identity.artifact == artifact.name
    assert identity.fingerprint == artifact.fingerprint
    assert (identity.backend, identity.method) == ("reference", "ngram")
    assert identity.draft_length == "2"
    assert service.limits is limits
    assert service.keys
    assert not service.phase.ready
