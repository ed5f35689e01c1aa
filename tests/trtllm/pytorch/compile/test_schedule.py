"""One map of draft lengths means the same for every batch in every release."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.trtllm.pytorch.compile.recipes import DRAFT_TARGET, EAGLE3, NGRAM, compiled
from trtspec.methods.draft_length import draft_length_at
from trtspec.trtllm.pytorch.compile.schedule import (
    from_lower_bounds,
    from_upper_bounds,
    longest,
    reachable,
    reaches_zero,
    starts_longest,
    to_lower_bounds,
)

MAPS = st.dictionaries(st.integers(1, 70), st.integers(1, 9), min_size=1, max_size=6)
BATCHES = st.integers(1, 80)


def meaning(config: dict, family: str, batch: int) -> int:
    """Tokens drafted with ``batch`` running requests, by each release's own rules."""
    most = config.get("max_draft_len")
    if "max_concurrency" in config:
        return most if batch <= config["max_concurrency"] else 0
    bounds = config.get("draft_len_schedule")
    if bounds is None:
        return most
    if family == "1.2":  # the largest key that is not above the batch
        return bounds[max(key for key in bounds if key <= batch)]
    # the smallest key that is not below the batch; nothing above the last
    above = [key for key in bounds if key >= batch]
    return bounds[min(above)] if above else 0


def _limits(batch: int) -> dict:
    return {
        "max_batch_size": batch,
        "max_input_tokens": 100,
        "max_total_tokens": 200,
    }


def _sorted(lengths: dict[int, int]) -> dict[int, int]:
    return dict(sorted(lengths.items()))


@settings(deadline=None)
@given(lengths=MAPS, batch=BATCHES)
@pytest.mark.parametrize(
    ("version", "family", "speculation"),
    [
        ("1.2.1", "1.2", EAGLE3),
        ("1.2.1", "1.2", DRAFT_TARGET),
        ("1.2.1", "1.2", NGRAM),
        ("1.4.0rc4", "main", EAGLE3),
        ("1.4.0rc4", "main", DRAFT_TARGET),
        ("1.1.0", "1.1", NGRAM),
        ("1.1.0", "1.1", EAGLE3),
    ],
)
def test_every_batch_drafts_as_much_as_the_recipe_says(
    version, family, speculation, lengths, batch
):
    made = compiled(
        version, {**speculation, "draft_length": lengths}, limits=_limits(batch)
    )
    lengths = _sorted(lengths)
    if made.blocked:
        reached = [draft_length_at(lengths, n) for n in range(1, batch + 1)]
        assert len(set(reached)) > 1, "one length for every batch is always possible"
        return
    config = made.args.to_dict()["speculative_config"]
    for running in range(1, batch + 1):
        assert meaning(config, family, running) == draft_length_at(lengths, running)


@settings(deadline=None)
@given(lengths=MAPS, batch=BATCHES)
def test_only_a_map_that_starts_short_is_refused_on_1_2_and_main(lengths, batch):
    lengths = _sorted(lengths)
    reached = [draft_length_at(lengths, n) for n in range(1, batch + 1)]
    for version in ("1.2.1", "1.4.0rc4"):
        made = compiled(
            version, {**EAGLE3, "draft_length": lengths}, limits=_limits(batch)
        )
        assert made.blocked == (reached[0] != max(reached))


def test_example_of_the_two_readings():
    speculation = {**EAGLE3, "draft_length": {8: 4, 32: 2}}
    for version, bounds in {
        "1.2.1": {1: 4, 9: 2, 33: 0},
        "1.3.0rc22": {8: 4, 32: 2},
        "1.4.0rc4": {8: 4, 32: 2},
    }.items():
        config = compiled(version, speculation).args.to_dict()["speculative_config"]
        assert config["draft_len_schedule"] == bounds
        assert config["max_draft_len"] == 4


def test_the_last_range_is_left_out_where_no_batch_gets_there():
    assert to_lower_bounds({8: 4, 32: 2}, 32) == {1: 4, 9: 2}
    assert to_lower_bounds({8: 4, 32: 2}, 33) == {1: 4, 9: 2, 33: 0}


@settings(deadline=None)
@given(lengths=MAPS, batch=BATCHES)
def test_what_is_reachable_means_the_same_for_every_batch(lengths, batch):
    kept = reachable(lengths, batch)
    for running in range(1, batch + 1):
        assert draft_length_at(kept, running) == draft_length_at(
            _sorted(lengths), running
        )
    if not isinstance(kept, int):
        assert len(kept) <= len(lengths)
        assert sum(key >= batch for key in kept) <= 1


def test_reachable_merges_steps_and_drops_what_no_batch_gets_to():
    assert reachable({8: 4, 32: 2, 64: 1}, 16) == {8: 4, 32: 2}
    assert reachable({8: 4, 32: 4, 64: 1}, 64) == {32: 4, 64: 1}
    assert reachable({8: 4, 32: 2}, 8) == 4
    assert reachable({8: 4}, 9) == {8: 4}
    assert reachable(3, 9) == 3


@settings(deadline=None)
@given(lengths=MAPS, batch=BATCHES)
def test_both_readings_come_back_as_the_same_map(lengths, batch):
    kept = reachable(lengths, batch)
    assume(not isinstance(kept, int))
    assert from_lower_bounds(to_lower_bounds(kept, batch), batch) in (
        kept,
        {
            **{k: v for k, v in kept.items() if k < batch},
            batch: list(kept.values())[-1],
        },
    )
    assert from_upper_bounds(kept, batch) == kept


def test_a_schedule_of_1_2_reads_as_a_map():
    assert from_lower_bounds({1: 4, 9: 2, 33: 0}, 64) == {8: 4, 32: 2}
    assert from_lower_bounds({1: 4, 9: 2}, 64) == {8: 4, 64: 2}
    assert from_lower_bounds({1: 4}, 64) == 4
    assert from_lower_bounds({1: 4, 100: 0}, 64) == 4


def test_a_recipe_cannot_say_what_drafts_nothing_in_between():
    lower = {1: 4, 9: 0, 17: 2}
    assert from_lower_bounds(lower, 64) == {8: 4, 16: 0, 64: 2}
    upper = {8: 4, 16: 0, 32: 2}
    assert from_upper_bounds(upper, 64) == upper
    assert from_upper_bounds({8: 0}, 64) is None
    assert from_upper_bounds({8: 4, 32: 0}, 64) == {8: 4}


def test_what_decides_whether_a_map_can_be_written():
    assert starts_longest({8: 4, 32: 2})
    assert not starts_longest({32: 4, 8: 2})
    assert longest({8: 2, 32: 4}) == 4
    assert longest(3) == 3
    assert reaches_zero({8: 4}, 9)
    assert not reaches_zero({8: 4}, 8)
    assert not reaches_zero(4, 8)
