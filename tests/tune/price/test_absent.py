"""Without the package a roofline prices, and says why."""

from __future__ import annotations

import pytest

from tests.tune.price import models
from tests.tune.price.questions import GRID
from trtspec.errors import UsageError
from trtspec.tune.price.gpu import priced_kind
from trtspec.tune.price.kernels import kernels_of
from trtspec.tune.price.parts import NoPriceError
from trtspec.tune.price.prices import price

pytestmark = pytest.mark.usefixtures("absent")


def test_the_package_is_named_with_what_installs_it():
    with pytest.raises(NoPriceError, match=r"pip install 'trtspec\[price\]'"):
        kernels_of("h200_sxm")


def test_a_roofline_takes_its_place(tmp_path):
    target = models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))
    found = price(models.ngram(target), priced_kind("h200"), GRID)
    assert found.costs.verify.source == found.costs.draft.source == "roofline"
    assert "aiconfigurator-core is not installed" in found.told()[0]


def test_who_wants_tables_only_is_told_what_is_missing(tmp_path):
    target = models.placed(models.model(tmp_path / "8b", models.LLAMA_8B))
    with pytest.raises(
        UsageError, match="no price on H200: aiconfigurator-core is not"
    ):
        price(models.ngram(target), priced_kind("h200"), GRID, by="priced")
