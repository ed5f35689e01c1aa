"""What holds for all tests: their order, and what need not be done again and again."""

import ctypes
import gc
import itertools
import os
import signal
import sys

import pytest
from hypothesis import settings

# how long an example takes is said nowhere, least of all beside other workers
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")

# else each of some hundred commands that tests start compiles the package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if "PYTEST_XDIST_WORKER" in os.environ:
    # torch in several processes, each with all cores: they stall one another
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_configure(config):
    """Have xdist keep the order below; it would begin with files of many tests."""
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    """Begin with files that hold slow tests, so that the workers end together."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Keep ten thousand collected tests out of every later search for garbage."""
    gc.collect()
    gc.freeze()


# glibc keeps what was freed between other things: gigabytes after some large models
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
_files = itertools.count(1)
FILES_PER_SEARCH = 40
"""What is frozen and then lost is never found again, so now and then all is looked at:
models that earlier tests made are large."""


@pytest.fixture(scope="module", autouse=True)
def _earlier_files_are_frozen():
    """Likewise what earlier files left for good: bench collects before every block."""
    if next(_files) % FILES_PER_SEARCH == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()
    if _trim is not None:
        _trim(0)


SIGNALS = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(scope="module", autouse=True)
def _signals_stay_as_they_are():
    """With SIGPIPE's default a later file's closed socket ends the worker, silently."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    after = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, before[number])
    assert after == before


@pytest.fixture(scope="session")
def _caches(tmp_path_factory):
    """Names of folders; mktemp would look through all there are for each one."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture
def caches(_caches):
    """An empty folder of this test, for what would go into the user's caches."""
    folder = next(_caches)
    folder.mkdir()
    return folder
