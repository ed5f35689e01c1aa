"""Planted faults are the faults that they are named after, and none is exact."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

import trtspec
from tests.reference.acceptance.tables import (
    CHAIN_2,
    EXACT,
    KINDS,
    TWO,
    UNBALANCED,
    Table,
    chosen,
    emitted_blocks,
    grown,
    largest_error,
    verified,
    without_replacement,
)
from trtspec.reference.acceptance import accept_exactly
from trtspec.reference.acceptance.planted import (
    PLANTED,
    ForcedAcceptance,
    FuzzyAcceptance,
    Penalised,
    argmax_always,
    temperature_ignored,
    top_p_ignored,
    whole_target_resampled,
)
from trtspec.reference.chance import SeededChance
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import SamplingParams

ASKED = SamplingParams(temperature=0.8, top_p=0.9)
SEED = 2
"""Three of its four tokens are likely, and the drafter offers the third of them."""


def blocks(rule, shape=CHAIN_2, kind=chosen, sampling=ASKED):
    target, drafter = Table(4, SEED, sampling), Table(4, SEED + 100, sampling)
    return target, emitted_blocks(
        target, lambda c: grown(drafter, shape, kind, c), rule
    )


@pytest.mark.parametrize("name", PLANTED)
def test_none_of_them_is_exact(name):
    kinds = (chosen, without_replacement)
    errors = [largest_error(*blocks(PLANTED[name], kind=k), 2) for k in kinds]
    assert max(errors) > 1e-2


def test_the_exact_rule_is_by_the_same_measure():
    assert largest_error(*blocks(accept_exactly), 2) < EXACT


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("shape", [TWO, UNBALANCED])
@pytest.mark.parametrize("kind", KINDS)
def test_they_take_trees_of_every_kind(name, shape, kind):
    target, emitted = blocks(PLANTED[name], shape, KINDS[kind])
    assert sum(emitted.values()) == pytest.approx(1, abs=EXACT)
    assert {len(block) for block in emitted} <= {1, 2, 3}
    assert all(0 <= token < target.vocabulary for block in emitted for token in block)


@pytest.mark.parametrize("name", PLANTED)
def test_a_greedy_request_still_gets_its_greedy_tokens(name):
    """They are faults of sampling: greedy parity must not find them."""
    target = Table(4, 1)
    best = int(target.logits(()).argmax())
    for offered in range(4):
        seen = verified(target, DraftTree.chain([offered]))
        path, token = PLANTED[name](seen, SamplingParams(), SeededChance(1))
        assert (offered if path else token) == best


def test_argmax_takes_no_chance():
    target, emitted = blocks(argmax_always)
    assert len(emitted) == 1
    (block,) = emitted
    assert block[0] == int(target.logits(()).argmax())


@pytest.mark.parametrize(
    ("rule", "really"),
    [
        (temperature_ignored, SamplingParams(1.0, top_p=0.9)),
        (top_p_ignored, SamplingParams(0.8)),
    ],
)
def test_what_is_ignored_is_ignored_and_nothing_else_is(rule, really):
    _, emitted = blocks(rule)
    assert largest_error(Table(4, SEED, really), emitted, 3) < EXACT


@pytest.mark.parametrize("token", range(4))
def test_a_draft_token_comes_out_with_p_times_2_minus_p(token):
    target = Table(4, 1)
    emitted = emitted_blocks(
        target, lambda chance: DraftTree.chain([token]), whole_target_resampled
    )
    p = float(target.after(())[token])
    got = sum(weight for block, weight in emitted.items() if block[0] == token)
    assert got == pytest.approx(p * (2 - p), abs=EXACT)


def test_resampling_from_the_whole_target_is_wrong_for_drawn_drafts_too():
    found = blocks(whole_target_resampled, TWO, without_replacement)
    assert largest_error(*found, 1) > 1e-2


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_forced_acceptance_takes_so_many_unseen(tokens):
    target = Table(4, 1)
    emitted = emitted_blocks(
        target, lambda chance: DraftTree.chain([3, 2]), ForcedAcceptance(tokens)
    )
    taken = (3, 2)[:tokens]
    assert {block[:-1] for block in emitted} == {taken}
    after = {block[-1]: weight for block, weight in emitted.items()}
    wanted = target.after(taken)
    assert [after[t] for t in range(4)] == pytest.approx(wanted.tolist(), abs=EXACT)


def test_without_a_draft_nothing_is_forced():
    target = Table(4, 1)
    emitted = emitted_blocks(target, lambda chance: NO_DRAFT, ForcedAcceptance(2))
    assert largest_error(target, emitted, 1) < EXACT


def test_fuzzy_acceptance_takes_what_is_alike_enough():
    target = Table(4, 1)
    p = target.after(())
    uniform = torch.full((4,), 0.25, dtype=torch.float64)
    for token in range(4):
        for proposal in (None, uniform):
            q = torch.eye(4)[token] if proposal is None else uniform
            apart = float((p - q).abs().sum()) / 2
            for limit, is_taken in ((apart * 1.01, True), (apart * 0.99, False)):
                seen = verified(target, DraftTree.chain([token], [proposal]))
                rule = FuzzyAcceptance(limit)
                path, _ = rule(seen, target.sampling, SeededChance(0))
                assert bool(path) is is_taken


def test_a_penalty_takes_from_every_token_that_stands_in_the_text():
    target, used = Table(4, 1), (2, 3)
    emitted = emitted_blocks(target, lambda chance: NO_DRAFT, Penalised(1.5), used)
    logits = target.logits(()).clone()
    logits[[2, 3]] -= 1.5
    wanted = torch.softmax(logits, 0).tolist()
    assert [emitted[(t,)] for t in range(4)] == pytest.approx(wanted, abs=EXACT)


def test_a_penalty_follows_the_draft_and_stays_exact():
    """With a draft, or token by token: the same distribution of two tokens."""
    target, drafter, rule = Table(3, 1), Table(3, 101), Penalised(1.5)
    drafted = emitted_blocks(
        target, lambda c: grown(drafter, CHAIN_2, chosen, c), rule, (0,)
    )
    for first in range(3):
        logits = target.logits(()).clone()
        logits[0] -= 1.5
        p = torch.softmax(logits, 0)
        behind = target.logits((first,)).clone()
        behind[sorted({0, first})] -= 1.5
        for second in range(3):
            wanted = float(p[first] * torch.softmax(behind, 0)[second])
            got = _share(drafted, (first, second), target)
            assert got == pytest.approx(wanted, abs=EXACT)


def _share(emitted, start, target):
    """Share of two tokens; a block of one goes on as a penalised step would."""
    found = 0.0
    for block, weight in emitted.items():
        if block[:2] == start:
            found += weight
        elif block == start[:1]:
            logits = target.logits(block).clone()
            logits[sorted({0, *block})] -= 1.5
            found += weight * float(torch.softmax(logits, 0)[start[1]])
    return found


def test_a_dropped_penalty_is_the_exact_rule_in_its_place():
    target = Table(4, 1)
    kept = emitted_blocks(target, lambda c: NO_DRAFT, Penalised(1.5))
    dropped = emitted_blocks(target, lambda c: NO_DRAFT, accept_exactly)
    assert abs(kept[(0,)] - dropped[(0,)]) > 1e-2


def test_no_module_but_tests_and_verify_uses_them():
    """A recipe cannot lead to a rule that is wrong on purpose."""
    root = Path(trtspec.__file__).parent
    for path in root.rglob("*.py"):
        inside = path.relative_to(root).parts[0]
        for node in ast.walk(ast.parse(path.read_text())):
            module = getattr(node, "module", None) or ""
            if isinstance(node, ast.ImportFrom) and module.endswith(".planted"):
                assert inside in ("verify", "cli"), path
