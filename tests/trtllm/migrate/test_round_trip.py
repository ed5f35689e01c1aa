"""What is expressible comes back as it was, and moving twice changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trtllm.migrate.configurations import PAIRS, configurations, in_meaning
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.migrate.vendor import migrate_vendor


def moved(values, source, target):
    result = migrate_vendor(values, newest_of(target), source)
    blocked = [c for c in result.changes if c.kind == "blocked"]
    assert not blocked, blocked
    return result


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_there_and_back_means_the_same(source, target, data):
    values = data.draw(configurations(source, target))
    there = moved(values, source, target)
    back = moved(there.values, target, source)
    once = moved(values, source, source)
    assert in_meaning(back.values, source) == in_meaning(once.values, source)


@pytest.mark.parametrize("source", FAMILIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_canonical_form_is_canonical(source, data):
    target = data.draw(st.sampled_from([f for f in FAMILIES if f != source]))
    values = data.draw(configurations(source, target))
    once = moved(values, source, source)
    assert moved(once.values, source, source).values == once.values


@pytest.mark.parametrize(("source", "target"), PAIRS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_result_needs_no_further_change(source, target, data):
    values = data.draw(configurations(source, target))
    there = moved(values, source, target)
    again = moved(there.values, target, target)
    assert not again.alters, again.changes
