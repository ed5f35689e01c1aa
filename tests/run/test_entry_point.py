"""A user's own object is found, made, or refused with what to do."""

from __future__ import annotations

import sys

import pytest

from trtspec.errors import UsageError
from trtspec.run.entry_point import entry_point

OBJECTS = """
class Drafter:
    pass

def make():
    return Drafter()

def fails():
    raise OSError("no weights")

def wants(argument):
    return argument
"""


@pytest.fixture
def objects(monkeypatch, tmp_path):
    """A module in the working directory, which is not on the path."""
    (tmp_path / "my_objects.py").write_text(OBJECTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    yield
    sys.modules.pop("my_objects", None)


@pytest.mark.parametrize("name", ["my_objects:Drafter", "my_objects:make"])
@pytest.mark.usefixtures("objects")
def test_a_class_or_a_function_is_called(name):
    assert type(entry_point(name, "speculation.drafter")).__name__ == "Drafter"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:make", "ModuleNotFoundError: No module named"),
        ("my_objects:absent", "AttributeError"),
        ("my_objects:fails", "OSError: no weights"),
        ("my_objects:wants", "TypeError"),
        ("sys:exit", "SystemExit"),
    ],
)
@pytest.mark.usefixtures("objects")
def test_what_cannot_be_had_is_told_with_what_to_do(name, words):
    with pytest.raises(UsageError, match=rf"(?s)drafter: {name} .*{words}.*PYTHONPATH"):
        entry_point(name, "speculation.drafter")
