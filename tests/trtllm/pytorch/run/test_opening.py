"""An artifact opens only where its configuration means what it meant when built."""

from __future__ import annotations

import sys

import pytest

from tests.standins import install
from tests.trtllm.pytorch.run.artifacts import installed, write_artifact
from tests.trtllm.pytorch.run.fakes import ask, finish
from tests.trtllm.pytorch.run.tiny_server import DONE, TinyServer, event
from trtspec.errors import BackendUnavailableError, RunError, UsageError
from trtspec.trtllm.installation import Absence, Installation
from trtspec.trtllm.pytorch.run import open_artifact, open_runner


@pytest.fixture
def artifact(tmp_path):
    return write_artifact(tmp_path / "a", "1.2.1", "ngram")


def test_a_machine_without_tensorrt_llm_is_told(artifact):
    nothing = Installation(absences=(Absence("version", "not installed"),))
    with pytest.raises(BackendUnavailableError, match=r"(?s)not installed.*--url"):
        open_runner(artifact, nothing)


def test_a_candidate_of_no_family_is_refused(artifact):
    with pytest.raises(BackendUnavailableError, match=r"1\.3\.0rc5 is of no family"):
        open_runner(artifact, installed("1.3.0rc5"))


@pytest.mark.parametrize("version", ["1.1.0", "1.4.0rc4"])
def test_another_family_than_the_artifacts_is_refused(artifact, version):
    with pytest.raises(RunError, match=rf"{version} is installed.*built for 1\.2\.1"):
        open_runner(artifact, installed(version))


def test_forced_acceptance_makes_the_text_meaningless(artifact, monkeypatch):
    variable = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    monkeypatch.setenv(variable, "2")
    with pytest.raises(UsageError, match=rf"\${variable}: '2' forces"):
        open_runner(artifact, installed("1.2.1"))


def test_a_package_that_does_not_import_is_told(artifact, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorrt_llm", None)
    with pytest.raises(BackendUnavailableError, match="tensorrt_llm: cannot be impor"):
        open_runner(artifact, installed("1.2.1"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package tensorrt_llm of a few lines of Python."""

    def make(text, classes=""):
        install(tmp_path / "s", "1.2.1", pytorch=True).activate(monkeypatch)
        folder = tmp_path / "site" / "tensorrt_llm" / "llmapi"
        folder.mkdir(parents=True)
        (folder.parent / "__init__.py").write_text(text)
        (folder / "__init__.py").write_text("")
        (folder / "llm_args.py").write_text(classes)
        monkeypatch.syspath_prepend(str(tmp_path / "site"))

    return make


ENDS = "it asked for the end of the process (3)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def (:", "invalid syntax"),
        ("raise SystemExit(3)", ENDS),
        ("raise KeyError('x')", "KeyError: 'x'"),
        ("import ctypes; ctypes.CDLL('libnone.so')", "libnone.so"),
    ],
)
@pytest.mark.parametrize("place", ["tensorrt_llm", "tensorrt_llm.llmapi.llm_args"])
def test_whatever_an_import_raises_is_told(artifact, package, place, text, words):
    package(*((text,) if place == "tensorrt_llm" else ("", text)))
    with pytest.raises(BackendUnavailableError) as told:
        open_runner(artifact, installed("1.2.1"))
    (problem,) = told.value.problems
    assert problem.where == place
    assert problem.what.startswith("cannot be imported: ")
    assert words in problem.what


@pytest.mark.parametrize(
    ("raised", "words"), [("SystemExit(3)", ENDS), ("KeyError('x')", "KeyError: 'x'")]
)
def test_whatever_loading_raises_is_told(artifact, package, raised, words):
    package(f"def LLM(**arguments):\n    raise {raised}\n")
    with pytest.raises(RunError) as told:
        open_runner(artifact, installed("1.2.1"))
    assert f"TensorRT-LLM does not load it: {words}" in str(told.value)


def test_an_interrupt_while_loading_stays_one(artifact, package):
    package("def LLM(**arguments):\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        open_runner(artifact, installed("1.2.1"))


def test_a_url_needs_no_tensorrt_llm_here(artifact):
    server = TinyServer(lambda body: [event(5, 6, finish_reason="length"), DONE])
    try:
        runner = open_artifact(artifact, Installation(), server.url + "/v1/")
        assert finish(runner, ask(tokens=2))["r"].tokens == [5, 6]
        assert runner.conditions()["url"] == server.url
        with pytest.raises(UsageError, match="trtllm-serve takes no bad"):
            open_artifact(
                write_artifact(artifact.path.parent / "b", "1.2.1"),
                Installation(),
                server.url,
            ).submit(ask(controls={"bad": ["x"]}))
        runner.close()
    finally:
        server.close()


def test_the_artifact_decides_which_servers_will_do(artifact):
    server = TinyServer()
    server.pages["/version"] = {"version": "1.4.0rc4"}
    try:
        with pytest.raises(RunError, match=r"1\.4\.0rc4.*built for 1\.2\.1"):
            open_artifact(artifact, Installation(), server.url)
    finally:
        server.close()


def test_a_users_drafter_runs_in_process(tmp_path, monkeypatch):
    standin = install(tmp_path / "s", "1.2.1", pytorch=True)
    standin.activate(monkeypatch)
    (tmp_path / "my_drafters.py").write_text(
        "from tensorrt_llm._torch.speculative.drafter import Drafter\n\n\n"
        "class Mine(Drafter):\n"
        "    def prepare_draft_tokens(self, scheduled, resource_manager=None):\n"
        "        for request in scheduled.generation_requests:\n"
        "            request.py_draft_tokens = [5, 6]\n\n\n"
        "def make():\n"
        "    return Mine()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    runner = open_runner(
        write_artifact(tmp_path / "a", "1.2.1", "user"), installed("1.2.1")
    )
    try:
        done = finish(runner, ask(tokens=8))["r"]
        assert len(done.tokens) == 8
        assert standin.decoding().total("drafted") > 0
    finally:
        runner.close()
        sys.modules.pop("my_drafters", None)
