"""A user's own drafter is looked for, and never imported."""

import sys

import pytest

from tests.check.samples import subject
from trtspec.check.rules.entry_point import own_code_is_there

EXPLODES = "raise RuntimeError('imported')\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(name, backend="reference", **more):
    method = {"method": "user", "draft_length": 2, "drafter": name, **more}
    return list(own_code_is_there(subject(backend=backend, speculation=method)))


@pytest.mark.parametrize(
    "source",
    [
        "def make():\n    pass\n",
        "class make:\n    pass\n",
        "make = lambda: 1\n",
        "from other import make\n",
        "import other as make\n",
        "try:\n    from a import make\nexcept ImportError:\n    make = None\n",
        "if True:\n    def make(): pass\n",
        "from other import *\n",
        "def __getattr__(name): return name\n",
    ],
)
def test_a_name_that_the_source_binds_is_there(here, source):
    (here / "mine_toy.py").write_text(EXPLODES + source)
    assert found("mine_toy:make") == []
    assert "mine_toy" not in sys.modules


def test_a_module_that_is_nowhere_blocks(here):
    (finding,) = found("no_such_module_toy:make")
    assert (finding.rule, finding.severity) == ("entry-point", "blocking")
    assert finding.where == "speculation.drafter"
    assert "there is no module no_such_module_toy" in finding.what
    assert str(here) in finding.why
    (elsewhere,) = found("no_such_module_toy:make", "pytorch")
    assert elsewhere.severity == "warning"


def test_a_name_that_the_source_lacks_is_a_warning(here):
    (here / "mine_toyb.py").write_text("def made(): pass\n")
    (finding,) = found("mine_toyb:make")
    assert finding.severity == "warning"
    assert finding.action == "name one of: made"


def test_parents_of_a_module_are_not_imported(here):
    (here / "pack_toy").mkdir()
    (here / "pack_toy" / "__init__.py").write_text(EXPLODES)
    (here / "pack_toy" / "inner.py").write_text("def make(): pass\n")
    assert found("pack_toy.inner:make") == []
    (finding,) = found("pack_toy.other:make")
    assert "there is no module pack_toy.other" in finding.what
    (finding,) = found("pack_toy.inner.deeper:make")
    assert finding.severity == "blocking"
    assert not [name for name in sys.modules if name.startswith("pack_toy")]


def test_what_cannot_be_read_is_not_judged(here):
    (here / "broken_toy.py").write_text("def (:\n")
    assert found("broken_toy:make") == []
    assert found("math:make") == []


def test_the_resource_manager_is_looked_for_too(here):
    (here / "mine_toyc.py").write_text("def make(): pass\n")
    (finding,) = found("mine_toyc:make", resource_manager="nowhere_toy:make")
    assert finding.where == "speculation.resource_manager"


def test_other_methods_name_no_code():
    assert not list(own_code_is_there(subject()))
