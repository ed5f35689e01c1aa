"""The test against known distributions: exact levels, cells, combination."""

import numpy as np
import pytest

from trtspec.verify.oracle.exact import Row, combined, deviance, place_test

SKEWED = np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02, 0.0])
FLAT = np.full(8, 1 / 8)


def drawn(p, answers, rng):
    return Row(np.asarray(p), rng.multinomial(answers, p))


def test_p_values_are_even_where_tokens_are_drawn_as_expected():
    rng = np.random.default_rng(0)
    p = [
        place_test([drawn(SKEWED, 40, rng), drawn(FLAT, 7, rng)], 199, rng).p
        for _ in range(300)
    ]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(p) == pytest.approx(0.5, abs=0.06)


def test_tokens_drawn_otherwise_are_found():
    rng = np.random.default_rng(1)
    other = Row(SKEWED, rng.multinomial(200, FLAT))
    assert place_test([other], 999, rng).p == 0.001


def test_a_token_that_has_no_chance_counts_but_is_not_infinite():
    rng = np.random.default_rng(2)
    counts = rng.multinomial(100, SKEWED)
    right = place_test([Row(SKEWED, counts)], 999, rng)
    counts[0] -= 8
    counts[7] += 8
    wrong = place_test([Row(SKEWED, counts)], 999, rng)
    assert np.isfinite(wrong.real)
    assert wrong.real > right.real + 10
    assert wrong.p <= 0.005


def test_tokens_without_a_chance_do_not_hide_among_the_rest():
    """Of few answers most cells are pooled; what cannot be at all still shows."""
    rng = np.random.default_rng(6)
    p = np.append(np.full(20, 1 / 20), 0.0)
    counts = rng.multinomial(8, p)
    counts[np.flatnonzero(counts)[:4]] -= 1
    counts[20] = 4
    assert place_test([Row(p, counts)], 999, rng).p <= 0.002


def test_a_change_that_cancels_over_texts_is_seen_in_frequent_texts():
    """What a wrong rule changes depends on what stands before."""
    rng = np.random.default_rng(3)
    up, down = np.array([0.8, 0.2]), np.array([0.2, 0.8])
    swapped = [Row(up, rng.multinomial(60, down)), Row(down, rng.multinomial(60, up))]
    assert place_test(swapped, 999, rng).p == 0.001


def test_rare_texts_share_cells_by_token():
    rng = np.random.default_rng(4)
    rows = [Row(FLAT, np.eye(8, dtype=np.int64)[i % 8]) for i in range(40)]
    found = place_test(rows, 199, rng)
    assert found.cells == 10  # eight tokens, each expected five times, and no other
    assert found.real < 3
    same = [Row(FLAT, np.eye(8, dtype=np.int64)[0])] * 40
    assert place_test(same, 199, rng).p == 0.005


def test_deviance_is_g_where_totals_agree_and_never_below_nothing():
    counts, expected = np.array([12.0, 8.0, 20.0]), np.array([10.0, 10.0, 20.0])
    g = 2 * (counts * np.log(counts / expected)).sum()
    assert deviance(counts, expected) == pytest.approx(g)
    assert deviance(expected, expected) == 0.0
    assert deviance(np.zeros(2), np.array([0.0, 0.0])) >= 0.0


def test_fishers_combination():
    from scipy.stats import combine_pvalues

    p = [0.2, 0.03, 0.5]
    assert combined(p) == pytest.approx(combine_pvalues(p).pvalue)
    assert combined([]) == 1.0


def test_the_same_seed_gives_the_same():
    rows = [Row(SKEWED, np.array([9, 5, 2, 2, 1, 1, 0, 0]))]
    once, again = (place_test(rows, 99, np.random.default_rng(5)) for _ in range(2))
    assert once.p == again.p
