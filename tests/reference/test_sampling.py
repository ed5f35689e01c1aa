"""Temperature, top-k and top-p give the distribution they promise."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trtspec.reference.sampling import distribution
from trtspec.run import SamplingParams

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0])


def probabilities(**sampling):
    return distribution(LOGITS, SamplingParams(**{"temperature": 1.0, **sampling}))


def test_temperature_one_is_the_softmax():
    assert torch.allclose(probabilities(), LOGITS.double().softmax(0))


def test_temperature_divides_the_logits():
    assert torch.allclose(
        probabilities(temperature=0.5), (LOGITS.double() * 2).softmax(0)
    )


def test_top_k_keeps_the_k_likeliest_and_normalises():
    p = probabilities(top_k=2)
    assert p[2:].tolist() == [0, 0]
    assert torch.allclose(p[:2], LOGITS[:2].double().softmax(0))


def test_top_k_keeps_ties_with_the_kth():
    p = distribution(torch.tensor([1.0, 0.0, 0.0, -5.0]), SamplingParams(1.0, top_k=2))
    assert (p > 0).tolist() == [True, True, True, False]


def test_top_p_keeps_the_smallest_set_that_reaches_the_mass():
    # softmax: 0.644, 0.237, 0.087, 0.032
    assert (probabilities(top_p=0.6) > 0).tolist() == [True, False, False, False]
    assert (probabilities(top_p=0.7) > 0).tolist() == [True, True, False, False]
    assert (probabilities(top_p=0.9) > 0).tolist() == [True, True, True, False]


def test_top_p_is_taken_of_what_top_k_left():
    # after top-k 2: 0.731, 0.269
    assert (probabilities(top_k=2, top_p=0.73) > 0).tolist() == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("top_p", [0.3, 0.9, 0.999, 0.9999])
def test_top_p_of_a_large_vocabulary_equals_a_full_sort(top_p):
    """Both when a few tokens have the mass and when they have not."""
    for spread in (0.1, 3.0):
        generator = torch.Generator().manual_seed(1)
        logits = spread * torch.randn(5000, generator=generator)
        p = logits.double().softmax(0)
        ordered, order = p.sort(descending=True)
        kept = order[ordered.cumsum(0) - ordered < top_p]
        got = distribution(logits, SamplingParams(1.0, top_p=top_p))
        assert set(got.nonzero().flatten().tolist()) == set(kept.tolist())
        assert torch.allclose(got[kept], p[kept] / p[kept].sum())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_result_is_float64_for_any_logits(dtype):
    p = distribution(LOGITS.to(dtype), SamplingParams(1.0, top_k=3, top_p=0.9))
    assert p.dtype == torch.float64


@given(
    st.lists(st.floats(-30, 30), min_size=1, max_size=20),
    st.floats(0.05, 5),
    st.integers(0, 25),
    st.floats(0.01, 1),
)
def test_any_restriction_leaves_a_distribution_with_the_argmax(
    logits, temperature, top_k, top_p
):
    values = torch.tensor(logits)
    p = distribution(values, SamplingParams(temperature, top_k, top_p))
    assert float(p.sum()) == pytest.approx(1, abs=1e-9)
    assert float(p.min()) >= 0
    likeliest = values >= values.max() - 1e-6  # of ties, any may be kept
    assert float(p[likeliest].max()) > 0
