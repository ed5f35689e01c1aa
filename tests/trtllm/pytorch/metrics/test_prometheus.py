"""Counters are differences of two scrapes; a restart in between is noticed."""

import pytest

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.metrics import from_prometheus
from trtspec.trtllm.pytorch.metrics.exposition import samples

LABELS = 'engine_type="trtllm",model_name="a \\"b\\""'


def page(drafted=None, accepted=None, positions=()):
    """A page as the server gives it; positions are (drafted, accepted) pairs."""
    lines = [
        "# HELP trtllm_spec_decode_num_draft_tokens_total Total number of draft tokens",
        "# TYPE trtllm_spec_decode_num_draft_tokens_total counter",
        f"trtllm_num_requests_running{{{LABELS}}} 3.0",
        f"trtllm_spec_decode_acceptance_length{{{LABELS}}} NaN",
        f"trtllm_spec_decode_num_draft_tokens_created{{{LABELS}}} 1.7e+09",
    ]
    totals = {"num_draft": drafted, "num_accepted": accepted}
    for name, value in totals.items():
        if value is not None:
            lines.append(
                f"trtllm_spec_decode_{name}_tokens_total{{{LABELS}}} {float(value)}"
            )
    for position, pair in enumerate(positions):
        for name, value in zip(("drafted", "accepted"), pair, strict=True):
            lines.append(
                f"trtllm_spec_decode_{name}_tokens_total"
                f'{{{LABELS},token_position="{position}"}} {float(value)}'
            )
    return "\n".join(lines) + "\n"


def test_the_difference_of_two_scrapes_counts():
    found = from_prometheus(page(140, 70), page(100, 40))
    assert (found.drafted, found.accepted) == (40, 30)
    assert (found.acceptance_rate, found.acceptance_length) == (0.75, None)
    assert found.note == ""


def test_position_0_counts_the_steps_where_both_pairs_agree():
    """K = 3, 3, 2: eight drafted in three steps; accepted 3, 1 and 0."""
    positions = [(3, 2), (3, 1), (2, 1)]
    found = from_prometheus(page(8, 4, positions), "")
    assert (found.drafted, found.steps) == (8, 3)
    assert found.acceptance_length == pytest.approx(1 + 4 / 3)


def test_positions_that_cover_other_requests_give_no_steps():
    found = from_prometheus(page(20, 10, [(3, 2), (3, 1)]), "")
    assert (found.drafted, found.steps, found.acceptance_length) == (20, None, None)


def test_positions_alone_are_enough():
    found = from_prometheus(page(positions=[(3, 2), (2, 1)]), "")
    assert (found.drafted, found.accepted, found.steps) == (5, 3, 3)


def test_a_page_without_accepted_tokens_falls_back_to_positions_or_has_no_figure():
    found = from_prometheus(page(drafted=9, positions=[(3, 2), (2, 1)]), "")
    assert (found.drafted, found.accepted) == (5, 3)
    alone = from_prometheus(page(drafted=9), "")
    assert alone.acceptance_rate is None
    assert "no counter of accepted" in alone.unavailable


def test_a_reset_is_detected():
    found = from_prometheus(page(10, 5), page(100, 40))
    assert found.acceptance_rate is None
    assert "restarted" in found.unavailable
    assert "restarted" in from_prometheus(page(), page(100, 40)).unavailable


def test_nothing_new_is_no_figure():
    assert "nothing was drafted" in from_prometheus(page(7, 3), page(7, 3)).unavailable


def test_a_page_without_the_counters_says_what_they_need():
    assert "return_perf_metrics" in from_prometheus(page()).unavailable


def test_what_limits_the_counters_is_told():
    assert from_prometheus(page(7, 3)).note == "since the server's start"
    assert "one in 10 iterations" in from_prometheus(page(7, 3), "", interval=10).note


@pytest.mark.parametrize("value", ["-1.0", "1.5", "NaN", "+Inf"])
def test_a_counter_that_makes_no_sense_is_refused(value):
    line = f"trtllm_spec_decode_num_draft_tokens_total {value}\n"
    with pytest.raises(RunError, match="num_draft_tokens_total"):
        from_prometheus(line)


def test_more_accepted_than_drafted_is_refused():
    with pytest.raises(RunError, match="Prometheus counters: 9 accepted of 8"):
        from_prometheus(page(8, 9))


def test_labels_are_read_with_their_escapes():
    (found,) = samples('a_total{b="c\\"d\\\\",e="f,g}"} 2 1700000000000\n# x\nnonsense')
    assert found.labels == {"b": 'c"d\\', "e": "f,g}"}
    assert found.value == 2.0
