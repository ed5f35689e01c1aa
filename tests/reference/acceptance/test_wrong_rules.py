"""The proofs can fail: wrong rules are caught by the same enumeration."""

from __future__ import annotations

import pytest

from tests.reference.acceptance.tables import (
    CHAIN_2,
    EXACT,
    KINDS,
    TWO,
    Table,
    emitted_blocks,
    grown,
    largest_error,
    with_replacement,
    without_replacement,
)
from trtspec.reference.acceptance import exact
from trtspec.reference.candidates import Candidate
from trtspec.reference.tree import DraftTree

CAUGHT = 1e-2


def error_of(kind, shape, length: int, seed: int = 1) -> float:
    target, drafter = Table(4, seed), Table(4, seed + 100)
    blocks = emitted_blocks(target, lambda c: grown(drafter, shape, kind, c))
    return largest_error(target, blocks, length)


@pytest.fixture
def from_the_whole_target(monkeypatch):
    """After a rejection the next token is drawn from p, not from what is left."""
    monkeypatch.setattr(exact, "residual", lambda p, q, token: p)


@pytest.mark.parametrize("token", range(5))
@pytest.mark.usefixtures("from_the_whole_target")
def test_resampling_from_the_whole_target_gives_p_times_2_minus_p(token):
    """A draft token of probability p: p + (1 - p) p."""
    target = Table(5, 1)
    blocks = emitted_blocks(target, lambda chance: DraftTree.chain([token]))
    p = float(target.after(())[token])
    got = sum(weight for block, weight in blocks.items() if block[0] == token)
    assert got == pytest.approx(p * (2 - p), abs=EXACT)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [CHAIN_2, TWO])
@pytest.mark.usefixtures("from_the_whole_target")
def test_resampling_from_the_whole_target_fails_the_proof(kind, shape):
    assert error_of(KINDS[kind], shape, 2) > CAUGHT


@pytest.mark.parametrize("shape", [CHAIN_2, TWO])
def test_accepting_everything_fails_the_proof(monkeypatch, shape):
    monkeypatch.setattr(exact, "acceptance_probability", lambda p, q, token: 1.0)
    assert error_of(without_replacement, shape, 2) > CAUGHT


def test_a_proposal_without_the_removal_of_earlier_siblings_fails_the_proof():
    """Drawn without replacement, but said to come from the whole q."""

    def misnamed(table, prefix, count, chance):
        whole = table.after(prefix)
        drawn = without_replacement(table, prefix, count, chance)
        return [Candidate(token, whole) for token, _ in drawn]

    assert error_of(misnamed, TWO, 1) > CAUGHT


def test_keeping_the_likeliest_of_drawn_candidates_fails_the_proof():
    """Why dynamic trees choose their candidates without chance."""

    def ranked(table, prefix, count, chance):
        drawn = with_replacement(table, prefix, 3, chance)
        q = table.after(prefix)
        return sorted(drawn, key=lambda one: -float(q[one.token]))[:1]

    assert error_of(ranked, ((),), 1) > CAUGHT
