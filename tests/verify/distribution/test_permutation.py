import itertools

import numpy as np
import pytest

from trtspec.verify.distribution.cells import numbered
from trtspec.verify.distribution.gtest import g_statistic
from trtspec.verify.distribution.permutation import dealt, g_of_deals, p_value


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_every_deal_labels_so_many(rng):
    assert dealt(40, 13, 200, rng).sum(1).tolist() == [13] * 200


def test_every_answer_is_as_likely_to_be_labelled(rng):
    shares = dealt(10, 3, 20_000, rng).mean(0)
    assert shares == pytest.approx([0.3] * 10, abs=0.015)


def test_the_real_statistic_is_that_of_the_table(rng):
    cells = [numbered("aabbaabbbb"), numbered("xyxyxyxyxy")]
    real, null = g_of_deals(cells, 4, 50, rng)
    wanted = sum(
        float(g_statistic(np.bincount(one[:4], minlength=2), np.bincount(one)))
        for one in cells
    )
    assert real == pytest.approx(wanted)
    assert null.shape == (50,)


def test_deals_follow_the_exact_distribution(rng):
    """Against all 210 ways to choose 4 of 10 answers, two places together."""
    cells = [numbered("aabbaabbbb"), numbered("aaaaaabbbb")]
    exact = np.sort(
        [
            sum(
                float(
                    g_statistic(
                        np.bincount(one[list(chosen)], minlength=2), np.bincount(one)
                    )
                )
                for one in cells
            )
            for chosen in itertools.combinations(range(10), 4)
        ]
    )
    _, null = g_of_deals(cells, 4, 20_000, rng)
    for value in exact[::30]:
        share = (null >= value - 1e-9).mean()
        assert share == pytest.approx((exact >= value - 1e-9).mean(), abs=0.015)


def test_places_of_one_answer_stay_together(rng):
    """Two equal places count twice in every deal: never once here, once there."""
    one = numbered("aabbaabbbbabab")
    _, single = g_of_deals([one], 6, 300, np.random.default_rng(1))
    _, double = g_of_deals([one, one], 6, 300, np.random.default_rng(1))
    assert double == pytest.approx(2 * single)


def test_a_p_value_is_never_0_and_at_most_1():
    null = np.arange(99.0)
    assert p_value(1000.0, null) == 0.01
    assert p_value(-1.0, null) == 1.0
    assert p_value(98.0, null) == 0.02


def test_p_values_are_uniform_where_arms_do_not_matter():
    """On a table far too sparse for chi-square."""
    rng = np.random.default_rng(8)
    found = []
    for _ in range(300):
        cells = np.unique(rng.zipf(1.6, 24) % 50, return_inverse=True)[1]
        real, null = g_of_deals([cells], 8, 99, rng)
        found.append(p_value(real, null))
    for level in (0.05, 0.1, 0.3, 0.5):
        assert np.mean(np.array(found) <= level) <= level + 0.05
    assert min(found) < 0.05
