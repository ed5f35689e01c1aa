"""The ``tuned:`` block says where a draft length comes from, and decides nothing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from trtspec.build.fingerprint import deciding_settings
from trtspec.recipe import Recipe

RECIPE = {
    "schema": "trtspec/v1",
    "name": "toy",
    "target": {"model": "./target"},
    "speculation": {"method": "ngram", "draft_length": {1: 4}},
}
LOAD = {"concurrency": 1, "draft_length": 4, "predicted": 1.4, "verdict": "faster"}
TUNED = {
    "by": "trtspec 0.1.0",
    "date": "2026-01-31",
    "fingerprint": "f" * 64,
    "prompts_sha256": "a" * 64,
    "prompts": 12,
    "output_tokens": 96,
    "costs": "measured",
    "hardware": "cpu, AVX512",
    "loads": [LOAD],
}


def test_it_is_read():
    tuned = Recipe.model_validate({**RECIPE, "tuned": TUNED}).tuned
    assert tuned.loads[0].predicted == 1.4
    assert tuned.loads[0].measured is None


def test_it_decides_nothing():
    bare = Recipe.model_validate(RECIPE)
    tuned = Recipe.model_validate({**RECIPE, "tuned": TUNED})
    assert deciding_settings(bare) == deciding_settings(tuned)
    longer = {**RECIPE, "speculation": {"method": "ngram", "draft_length": 5}}
    assert deciding_settings(bare) != deciding_settings(Recipe.model_validate(longer))


@pytest.mark.parametrize(
    "change",
    [
        {"loads": []},
        {"costs": "guessed"},
        {"prompts": 0},
        {"loads": [{**LOAD, "verdict": "very fast"}]},
        {"loads": [{**LOAD, "draft_length": -1}]},
        {"unknown": 1},
    ],
)
def test_what_cannot_be_is_refused(change):
    with pytest.raises(ValidationError):
        Recipe.model_validate({**RECIPE, "tuned": {**TUNED, **change}})
