"""Each method that the reference engine runs has its module, found by its name."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.reference.toy_heads.setup import toy_setup
from trtspec.methods import NoSpeculation
from trtspec.methods.catalogue import METHODS, settings, standings
from trtspec.reference import drafters


def runs_here(name: str) -> bool:
    said = standings(settings(name)[0].method)
    return any(one.runs for one in said if one.place.backend == "reference")


@pytest.mark.parametrize("name", [n for n in METHODS if n != "none" and runs_here(n)])
def test_every_method_has_a_module(name):
    module = import_module(f"{drafters.__name__}.{name}")
    assert callable(module.open_drafter)


def test_plain_decoding_has_no_drafter():
    none = NoSpeculation(method="none")
    assert drafters.open_drafter(none, None, toy_setup()) is None
