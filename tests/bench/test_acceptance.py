"""Acceptance by position, category and context; intervals with prompts as clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from tests.bench.fakes import sample
from trtspec.bench.acceptance import (
    acceptance_of,
    by_category,
    by_context,
    by_position,
    clustered_wilson,
    wilson,
)
from trtspec.run import DraftStep


def chain(*steps: tuple[int, int], **changes):
    """A request whose steps drafted and accepted so many."""
    told = [DraftStep(drafted, drafted, accepted) for drafted, accepted in steps]
    return sample(
        steps=len(told),
        drafted=sum(s.drafted for s in told),
        accepted=sum(s.accepted for s in told),
        draft_steps=told,
        **changes,
    )


class TestOverall:
    def test_counts_are_added_up_over_requests(self):
        found = acceptance_of([chain((4, 1), (4, 3)), chain((2, 2))])
        assert found.model_dump() == {
            "requests": 2,
            "steps": 3,
            "drafted": 10,
            "accepted": 6,
            "rate": 0.6,
            "length": 3.0,
        }

    def test_nothing_drafted_has_length_one_and_no_rate(self):
        found = acceptance_of([chain((0, 0), (0, 0))])
        assert (found.rate, found.length) == (None, 1.0)

    def test_an_engine_that_does_not_tell_has_none(self):
        silent = sample(steps=None, drafted=None, accepted=None)
        assert acceptance_of([chain((4, 1)), silent]) is None
        assert acceptance_of([]) is None

    def test_categories_are_apart_and_sorted(self):
        samples = [
            chain((4, 1), category="math"),
            chain((4, 4), category="chat"),
            chain((4, 3), category="math"),
        ]
        found = by_category(samples)
        assert list(found) == ["chat", "math"]
        assert (found["chat"].rate, found["math"].rate) == (1.0, 0.5)

    def test_prompts_without_a_category_are_in_none(self):
        assert by_category([chain((4, 1), category="")]) == {}


class TestByPosition:
    def counts(self, *samples):
        return [
            (p.position, p.offered, p.reached, p.accepted) for p in by_position(samples)
        ]

    def test_a_chain_of_fixed_length(self):
        # accepted 0, 1, 2, 3, 3 of 3
        steps = [(3, 0), (3, 1), (3, 2), (3, 3), (3, 3)]
        assert self.counts(chain(*steps)) == [(1, 5, 5, 4), (2, 5, 4, 3), (3, 5, 3, 2)]
        first, second, third = by_position([chain(*steps)])
        assert (first.share, second.share, third.share) == (0.8, 0.6, 0.4)
        assert (first.conditional, second.conditional) == (0.8, 0.75)
        assert third.conditional == pytest.approx(2 / 3)

    def test_a_schedule_does_not_lower_later_positions(self):
        # K is 4 for two steps, then 2 for three: all accept what they draft
        steps = [(4, 4), (4, 4), (2, 2), (2, 2), (2, 2)]
        assert self.counts(chain(*steps)) == [
            (1, 5, 5, 5),
            (2, 5, 5, 5),
            (3, 2, 2, 2),
            (4, 2, 2, 2),
        ]

    def test_a_schedule_with_a_rejection(self):
        # the second step drafts one token only: it says nothing about position 2
        assert self.counts(chain((2, 0), (1, 1), (2, 2), (0, 0))) == [
            (1, 3, 3, 2),
            (2, 2, 1, 1),
        ]

    def test_of_a_tree_levels_count_and_not_nodes(self):
        tree = sample(draft_steps=[DraftStep(7, 2, 1), DraftStep(7, 2, 2)])
        assert self.counts(tree) == [(1, 2, 2, 2), (2, 2, 2, 1)]

    def test_one_request_that_does_not_tell_its_steps_empties_it(self):
        assert by_position([chain((2, 1)), sample()]) == ()

    def test_nothing_drafted_has_no_positions(self):
        assert by_position([chain((0, 0))]) == ()
        assert by_position([]) == ()

    def test_a_position_that_no_step_reached_has_no_conditional_rate(self):
        _, second = by_position([chain((2, 0))])
        assert (second.share, second.conditional, second.interval) == (0.0, None, None)

    @settings(deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40))
    def test_what_holds_for_any_steps(self, pairs):
        steps = [(drafted, min(drafted, accepted)) for drafted, accepted in pairs]
        positions = by_position([chain(*steps)])
        assert sum(p.accepted for p in positions) == sum(a for _, a in steps)
        assert sum(p.offered for p in positions) == sum(d for d, _ in steps)
        for position in positions:
            assert position.accepted <= position.reached <= position.offered


class TestByContext:
    def test_context_is_the_prompt_and_the_output_so_far(self):
        # 254 of prompt, 1 from the prefill: 255, then 255 + 3 + 1 = 259
        found = by_context([chain((4, 3), (4, 1), prompt_tokens=254)])
        assert {name: (a.steps, a.accepted) for name, a in found.items()} == {
            "0-255": (1, 3),
            "256-511": (1, 1),
        }

    @pytest.mark.parametrize(
        ("prompt", "bucket"),
        [
            (1, "0-255"),
            (255, "256-511"),
            (510, "256-511"),
            (511, "512-1023"),
            (4095, "4096-8191"),
        ],
    )
    def test_buckets_double(self, prompt, bucket):
        assert list(by_context([chain((1, 0), prompt_tokens=prompt)])) == [bucket]

    def test_requests_are_counted_once_per_bucket(self):
        samples = [
            chain((4, 1), (4, 1), prompt_id=p, block=b)
            for p in ("p1", "p2")
            for b in (1, 2)
        ]
        (found,) = by_context(samples).values()
        assert (found.requests, found.steps) == (4, 8)

    def test_a_server_that_does_not_tell_has_none(self):
        assert by_context([chain((4, 1)), sample()]) == {}
        assert by_context([chain((4, 1), prompt_tokens=None)]) == {}


class TestIntervals:
    @pytest.mark.parametrize(
        ("successes", "trials"), [(0, 9), (3, 9), (9, 9), (40, 70)]
    )
    def test_wilson_is_scipys(self, successes, trials):
        theirs = binomtest(successes, trials).proportion_ci(method="wilson")
        ours = wilson(successes / trials, trials)
        assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-6)

    def test_repeating_every_block_does_not_narrow_it(self):
        once = [chain((3, i % 4), (3, 1), prompt_id=f"p{i}") for i in range(12)]
        five = [
            chain((3, i % 4), (3, 1), prompt_id=f"p{i}", block=b)
            for i in range(12)
            for b in range(1, 6)
        ]
        assert by_position(five)[0].interval == pytest.approx(
            by_position(once)[0].interval
        )

    def test_if_all_succeed_each_prompt_is_one_trial(self):
        found = clustered_wilson(np.full(20, 30), np.full(20, 30))
        assert found == pytest.approx(wilson(1.0, 20))

    def test_one_prompt_has_no_interval(self):
        assert clustered_wilson(np.array([3]), np.array([9])) is None
        assert clustered_wilson(np.array([3, 0]), np.array([9, 0])) is None

    @pytest.mark.parametrize("prompts", [12, 48])
    def test_it_covers_where_prompts_differ(self, prompts):
        """And Wilson's own, which takes every step for independent, does not."""
        random = np.random.default_rng(5)
        trials = np.full(prompts, 60)
        held = naive = 0
        for _ in range(500):
            rates = random.beta(6, 4, prompts)
            successes = random.binomial(trials, rates)
            low, high = clustered_wilson(successes, trials)
            held += low <= 0.6 <= high
            low, high = wilson(successes.sum() / trials.sum(), trials.sum())
            naive += low <= 0.6 <= high
        assert 0.93 <= held / 500 <= 0.97
        assert naive / 500 < 0.7
