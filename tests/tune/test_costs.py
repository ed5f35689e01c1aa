"""Costs come from a table and are never extrapolated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.tune.costs import Cost, CostTable, StepCosts
from trtspec.tune.predict import predict, predict_plain
from trtspec.tune.trace import PromptTrace


def table(cells: dict[tuple[int, int], float]) -> CostTable:
    return CostTable(
        source="measured",
        cells=[Cost(batch=b, tokens=t, seconds=s) for (b, t), s in cells.items()],
    )


GRID = table({(1, 1): 1.0, (1, 5): 1.4, (4, 1): 2.0, (4, 5): 4.0})


def test_a_cell_is_what_was_measured():
    assert GRID.at(1, 5) == 1.4
    assert GRID.at(4, 1) == 2.0


def test_between_cells_the_straight_line_counts():
    assert GRID.at(1, 3) == pytest.approx(1.2)
    assert GRID.at(2, 1) == pytest.approx(1 + 1 / 3)
    assert GRID.at(2, 3) == pytest.approx(1.2 + (3.0 - 1.2) / 3)


@pytest.mark.parametrize(("batch", "tokens"), [(5, 1), (1, 6), (1, 0), (4, 9)])
def test_nothing_is_extrapolated(batch, tokens):
    with pytest.raises(UsageError, match="there is no cost of"):
        GRID.at(batch, tokens)


def test_a_dip_is_noise_and_a_jump_is_not():
    jagged = table({(1, 1): 1.0, (1, 2): 1.3, (1, 3): 1.2, (1, 4): 2.5})
    assert [jagged.at(1, t) for t in (1, 2, 3, 4)] == [1.0, 1.3, 1.3, 2.5]


@given(
    st.dictionaries(st.integers(1, 9), st.floats(0.001, 10.0), min_size=2, max_size=6)
)
def test_more_tokens_never_cost_less(row):
    costs = table({(1, tokens): seconds for tokens, seconds in row.items()})
    found = [costs.at(1, t) for t in range(min(row), max(row) + 1)]
    assert found == sorted(found)


def test_a_table_with_holes_is_filled_from_its_neighbours():
    holed = table({(1, 1): 1.0, (1, 4): 1.6, (2, 1): 2.0, (2, 2): 2.2, (2, 4): 2.6})
    assert holed.at(1, 2) == pytest.approx(1.2)
    assert holed.at(2, 3) == pytest.approx(2.4)


COSTS = StepCosts(
    verify=table({(1, 1): 1.0, (1, 6): 1.5, (2, 1): 1.2, (2, 6): 3.0}),
    draft=table({(1, 0): 0.0, (1, 5): 0.5, (2, 0): 0.0, (2, 5): 0.8}),
)


def trace(name: str) -> PromptTrace:
    return PromptTrace(
        prompt_id=name,
        prompt_tokens=3,
        limit=7,
        emitted=7,
        offered=(5,) * 6,
        accepted=(2, 0, 5, 1, 0, 0),
    )


def test_a_prediction_adds_up_what_the_replayed_steps_cost():
    """Steps of 4, 2 and 0 drafts emit 3, 2 and 1 tokens."""
    reading = {
        "verify": COSTS.verify.model_copy(update={"reading": 0.5}),
        "draft": COSTS.draft.model_copy(update={"reading": 0.25}),
    }
    costs, one = COSTS.model_copy(update=reading), trace("a")
    found = predict([one], costs, 1, lambda _: 4)
    assert found.tokens == 7
    assert found.steps == 3
    expected = (1.4 + 0.4) + (1.2 + 0.2) + (1.0 + 0.0) + 0.75 * one.prompt_tokens
    assert found.acceptance_length == pytest.approx(1 + 3 / 3)
    assert found.seconds == pytest.approx(expected)
    assert found.throughput == pytest.approx(7 / expected)
    plain = predict([one], costs, 1, lambda _: 0)
    assert plain.seconds == pytest.approx(6 * 1.0 + 0.5 * one.prompt_tokens)


def test_prompts_that_are_read_one_by_one_cost_a_start_each():
    """Plain answers of one length end together, and the next are read together."""
    start = {"verify": COSTS.verify.model_copy(update={"reading_start": 0.5})}
    costs = COSTS.model_copy(update=start)
    four = [trace(name) for name in "abcd"]
    for concurrency, groups in ((1, 4), (2, 2)):
        dear, cheap = (
            predict(four, one, concurrency, lambda _: 0).seconds
            for one in (costs, COSTS)
        )
        assert dear - cheap == pytest.approx(0.5 * groups)


@pytest.mark.parametrize("concurrency", [1, 2])
def test_plain_steps_are_the_same_for_all_that_is_compared(concurrency):
    four = [trace(name) for name in "abcd"]
    assert predict_plain(four, COSTS, concurrency) == predict(
        four, COSTS, concurrency, lambda _: 0
    )


def test_nothing_drafted_is_plain_decoding():
    found = predict([trace("a"), trace("b")], COSTS, 2, lambda _: 0)
    assert found.seconds == pytest.approx(6 * 1.2)
    assert found.acceptance_length == 1.0


def with_contexts() -> CostTable:
    """Two contexts; the long one was measured at both ends only."""
    short = {
        (1, 1): 1.0,
        (1, 3): 1.4,
        (1, 5): 1.5,
        (4, 1): 2.0,
        (4, 3): 2.4,
        (4, 5): 3.0,
    }
    long = {(1, 1): 1.2, (1, 5): 1.7, (4, 1): 3.0, (4, 5): 5.0}
    cells = [
        Cost(batch=b, tokens=t, context=context, seconds=s)
        for context, part in ((100, short), (300, long))
        for (b, t), s in part.items()
    ]
    return CostTable(source="measured", cells=tuple(cells))


@pytest.mark.parametrize(
    ("batch", "tokens", "context", "seconds"),
    [
        (1, 3, 100, 1.4),
        (1, 3, None, 1.4),
        (1, 1, 300, 1.2),
        (1, 1, 200, 1.1),
        (4, 5, 300, 5.0),
        (4, 3, 300, 2.4 + 1.5),  # between what 1 and 5 tokens add
        (4, 3, 200, 2.4 + 0.75),
        (1, 1, 20, 1.0),
        (1, 1, 900, 1.2),
    ],
)
def test_a_longer_context_adds_in_proportion(batch, tokens, context, seconds):
    assert with_contexts().at(batch, tokens, context) == pytest.approx(seconds)


def test_a_longer_context_never_makes_it_cheaper():
    cells = [
        Cost(batch=1, tokens=1, context=10, seconds=1.0),
        Cost(batch=1, tokens=1, context=90, seconds=0.9),
    ]
    assert CostTable(source="measured", cells=tuple(cells)).at(1, 1, 90) == 1.0
