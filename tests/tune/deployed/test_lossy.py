"""What is lossy on a release is refused before anything is built or traced."""

from __future__ import annotations

import pytest

from tests.tune.deployed.places import make_place

SAMPLED = {"temperature": 0.8}


CASES = {
    # one-model speculation of 1.1 does not sample as asked
    "sampling": (
        "1.1.0",
        SAMPLED,
        {"method": "eagle3", "model": "./draft", "draft_length": 2},
    ),
    "relaxed": (
        "1.2.1",
        {},
        {
            "method": "mtp",
            "draft_length": 1,
            "acceptance": "relaxed",
            "relaxed_top_k": 5,
            "relaxed_delta": 0.5,
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused(tmp_path, monkeypatch, capfd, case):
    version, sampling, speculation = CASES[case]
    place = make_place(tmp_path, version, pytorch=True)
    place.standin.activate(monkeypatch)
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    recipe = place.write(sampling=sampling, **speculation)
    assert place.tune(recipe, "refused") == 2
    assert "lossy" in capfd.readouterr().err
    assert not (tmp_path / "engines").exists()
    assert not (tmp_path / "refused").exists()


def test_without_the_backend_the_way_on_is_named(tmp_path, monkeypatch, capfd):
    place = make_place(tmp_path, pytorch=True)
    monkeypatch.setenv("TRTSPEC_CACHE", str(tmp_path / "cache"))
    recipe = place.write(method="ngram", draft_length=2)
    assert place.tune(recipe, "absent") == 4
    assert "--price-for GPU" in capfd.readouterr().err
