"""Distributions after many texts at once are those of each text by itself."""

import numpy as np
import pytest
import torch

from tests.reference.toys import SHAPES, full_logits, toy_model
from trtspec.reference import next_tokens as module
from trtspec.reference.next_tokens import next_tokens, said_of
from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams

TEXT = (3, 9, 4, 7)
PATHS = [(), (5,), (5, 6), (8,), (8, 6), (8, 2, 11)]
SAMPLING = SamplingParams(temperature=0.7, top_p=0.9)


def expected(path, family):
    return distribution(full_logits((*TEXT, *path), family)[-1], SAMPLING).numpy()


@pytest.mark.parametrize("family", SHAPES)
def test_every_path_has_its_own_distribution(family):
    found = next_tokens(toy_model(family), TEXT, PATHS, SAMPLING)
    for path, after in zip(PATHS, found, strict=True):
        assert after.p == pytest.approx(expected(path, family), abs=1e-4)
        assert after.p.sum() == pytest.approx(1.0)
        assert after.moved == 0.0


def test_a_text_of_one_token_will_do():
    (found,) = next_tokens(toy_model(), (3,), [()], SAMPLING)
    row = distribution(full_logits((3,))[-1], SAMPLING).numpy()
    assert found.p == pytest.approx(row, abs=1e-5)


def test_a_model_that_ignores_the_tree_is_asked_text_by_text(monkeypatch):
    """As one would whose attention does not go by the mask that it is given."""
    wrong = [torch.zeros(48) for _ in PATHS]
    monkeypatch.setattr(module, "_by_tree", lambda *_: wrong)
    found = next_tokens(toy_model(), TEXT, PATHS, SAMPLING)
    for path, after in zip(PATHS, found, strict=True):
        assert after.p == pytest.approx(expected(path, "llama"), abs=1e-5)


def test_rounding_moves_a_distribution_the_more_the_coarser_it_is():
    moved = [
        np.mean(
            [one.moved for one in next_tokens(toy_model(), TEXT, PATHS, SAMPLING, w)]
        )
        for w in (0.0, 0.01, 0.5)
    ]
    assert 0.0 == moved[0] < moved[1] < moved[2] < 0.5


def test_the_same_seed_rounds_alike():
    once, again = (
        next_tokens(toy_model(), TEXT, PATHS, SAMPLING, 0.3) for _ in range(2)
    )
    assert [one.moved for one in once] == [one.moved for one in again]


def test_what_is_said_of_an_output_is_the_softmax_at_each_place():
    output = (5, 6, 2)
    said = said_of(toy_model(), TEXT, output)
    logits = full_logits((*TEXT, *output))[len(TEXT) - 1 : -1]
    assert said.log.shape == (3, 48)
    assert said.log == pytest.approx(logits.log_softmax(-1).numpy(), abs=1e-5)
    assert said.largest == pytest.approx(logits.max(-1).values.numpy(), abs=1e-5)
