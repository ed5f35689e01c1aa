"""The real package, where it is installed, answers what the stand-in repeats."""

from __future__ import annotations

import pytest

from tests.tune.price import questions
from tests.tune.price.fake_kernels import modules


@pytest.mark.parametrize("question", questions.ALL, ids=lambda q: q.__name__)
def test_the_stand_in_says_what_the_real_one_says(tmp_path, monkeypatch, question):
    pytest.importorskip(
        "aiconfigurator_core.sdk",
        reason="the package aiconfigurator-core is not installed (trtspec[price])",
    )
    real = question(tmp_path)
    for name, module in modules().items():
        monkeypatch.setitem(__import__("sys").modules, name, module)
    fake = question(tmp_path)
    for one, other in zip(
        real.costs.verify.cells, fake.costs.verify.cells, strict=True
    ):
        assert one.seconds == pytest.approx(other.seconds, rel=1e-4)
    for one, other in zip(real.costs.draft.cells, fake.costs.draft.cells, strict=True):
        assert one.seconds == pytest.approx(other.seconds, rel=1e-4)
    assert real.verify.operations == fake.verify.operations
