"""How many tokens are worth proposing for a running request."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from trtspec.methods import NGram, NoSpeculation
from trtspec.run import Request
from trtspec.run.running import Running


def method(draft_length):
    return NGram(method="ngram", draft_length=draft_length)


def limit(recipe, running=1, tokens=20, **options):
    stream = SimpleNamespace(text="")
    request = Request("r", (3, 9), tokens, **options)
    return Running(request, stream, frozenset(), 0.0).draft_limit(recipe, running)


@pytest.mark.parametrize(("running", "expected"), [(1, 5), (2, 3), (3, 0)])
def test_the_recipes_map_is_read_at_the_running_requests(running, expected):
    assert limit(method({1: 5, 2: 3}), running) == expected


@pytest.mark.parametrize("own", [2, 8, {1: 1, 2: 8}])
def test_a_requests_own_parameters_replace_the_recipes(own):
    expected = own if isinstance(own, int) else 8
    assert limit(method({1: 4}), running=2, speculation=method(own)) == expected


def test_the_last_token_that_fits_is_never_a_draft():
    assert limit(method(8), tokens=3) == 2
    assert limit(method(8), tokens=1) == 0


def test_nothing_is_proposed_for_the_off_arm_or_without_speculation():
    assert limit(method(8), speculate=False) == 0
    assert limit(NoSpeculation(method="none")) == 0
