"""A whole benchmark: hand-computed numbers, failing cells, loads that cannot run."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.measure import measure


def test_all_numbers_of_a_cell_at_concurrency_one():
    """5 tokens: off 0.5 + 4 * 1 s; on 0.5 + 2 steps of 1.25 s with 2 tokens each."""
    (cell,) = run(FakeRunner(), plan(8)).cells
    off, on = cell.off, cell.on
    assert off is not None
    assert on is not None
    assert off.values["output_throughput"] == pytest.approx(5 / 4.5)
    assert on.values["output_throughput"] == pytest.approx(5 / 3.0)
    for arm, tpot, e2e in ((off, 1.0, 4.5), (on, 0.625, 3.0)):
        assert arm.percentiles["ttft"].p50 == pytest.approx(0.5)
        assert arm.percentiles["tpot"].p50 == pytest.approx(tpot)
        assert arm.percentiles["e2e"].p50 == pytest.approx(e2e)
        assert arm.percentiles["e2e"].count == 24
        assert arm.percentiles["e2e"].p95 == pytest.approx(e2e)
        assert arm.percentiles["e2e"].p99 is None
        assert arm.in_flight == pytest.approx(1.0)
    # 2 steps draft 3 each and accept 1 each
    assert on.values["acceptance_rate"] == pytest.approx(1 / 3)
    assert on.values["acceptance_length"] == pytest.approx(2.0)
    assert on.values["drafting_share"] == pytest.approx(0.1)
    assert on.values["verification_share"] == pytest.approx(0.8)
    assert off.values["acceptance_rate"] is None
    assert off.values["acceptance_length"] == 1.0
    assert off.values["drafting_share"] == 0.0


def test_the_ratios_of_a_cell_at_concurrency_one():
    (cell,) = run(FakeRunner(), plan(8)).cells
    expected = {
        "output_throughput": 4.5 / 3.0,
        "ttft": 1.0,
        "tpot": 0.625,
        "e2e": 3.0 / 4.5,
    }
    assert set(cell.ratios) == set(expected)
    for tag, value in expected.items():
        ratio = cell.ratios[tag]
        assert ratio is not None
        assert ratio.estimate == pytest.approx(value)
        # nothing varies, so there is no uncertainty
        assert ratio.interval == pytest.approx((value, value))
    assert cell.verdict is not None
    assert cell.verdict.word == "faster"
    assert cell.outputs is not None
    assert (cell.outputs.identical, cell.outputs.prompts) == (8, 8)


def test_throughput_at_concurrency_counts_wall_time_once():
    """4 prefills of 0.5 s in turn, then 4 decode steps for all four together."""
    result = run(FakeRunner(), plan(8, concurrency=(4,)))
    (cell,) = result.cells
    off = next(b for b in result.blocks if b.arm == "off")
    assert off.wall_seconds == pytest.approx(2 * (4 * 0.5 + 4 * 1.0))
    assert cell.off is not None
    assert cell.off.values["output_throughput"] == pytest.approx(40 / 12.0)
    ratio = cell.ratios["output_throughput"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(12.0 / 9.0)


def test_a_useless_drafter_is_called_slower():
    (cell,) = run(FakeRunner(accepts=0), plan(8)).cells
    assert cell.verdict is not None
    assert cell.verdict.word == "slower"
    ratio = cell.ratios["output_throughput"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(4.5 / 5.5)


def test_an_on_arm_that_drafts_nothing_at_equal_speed_is_no_difference():
    (cell,) = run(FakeRunner(accepts=0, drafts=0, on_step=1.0), plan(8)).cells
    assert cell.verdict is not None
    assert cell.verdict.word == "no difference"
    assert cell.on is not None
    assert cell.on.values["acceptance_rate"] is None


def test_differing_outputs_are_listed_and_do_not_become_identical():
    def flips(request):
        tokens = list(range(request.max_new_tokens))
        if request.speculate and len(request.prompt) == 3:
            tokens[2] = 99
        return tokens

    (cell,) = run(FakeRunner(output_of=flips), plan(8)).cells
    assert cell.outputs is not None
    assert cell.outputs.identical == 7
    (difference,) = cell.outputs.differences
    assert (difference.prompt_id, difference.position) == ("p3", 2)
    assert (difference.off, difference.on) == (2, 99)


def test_an_off_arm_that_does_not_repeat_itself_is_noticed():
    calls = []

    def drifting(request):
        calls.append(request.id)
        return [len(calls) if request.id.endswith("off2") else 1] * 5

    (cell,) = run(FakeRunner(output_of=drifting), plan(8)).cells
    assert cell.outputs is not None
    assert (cell.outputs.off_repeats, cell.outputs.on_repeats) == (0, 8)


def test_prompts_with_a_single_token_are_left_out_of_the_tpot_ratio_only():
    def short(request):
        return [1] if len(request.prompt) == 1 else [1] * 5

    (cell,) = run(FakeRunner(output_of=short), plan(9)).cells
    assert cell.off is not None
    assert cell.off.percentiles["tpot"].count == 8 * 3
    assert cell.off.percentiles["e2e"].count == 9 * 3
    assert cell.ratios["tpot"] is not None
    assert cell.ratios["tpot"].estimate == pytest.approx(0.625)


def test_without_any_tpot_there_is_no_tpot_ratio():
    (cell,) = run(FakeRunner(output_of=lambda request: [1]), plan(8)).cells
    assert cell.ratios["tpot"] is None
    assert cell.off is not None
    assert cell.off.percentiles["tpot"].p50 is None


def test_two_repeats_carry_numbers_but_no_claim():
    (cell,) = run(FakeRunner(), plan(8, repeats=2)).cells
    assert cell.verdict is not None
    assert cell.verdict.word == "no claim"
    assert cell.on is not None


def test_a_failed_cell_has_no_numbers_and_the_others_keep_theirs():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p5/c2/on3")
    result = run(runner, plan(8, concurrency=(1, 2, 4)))
    one, two, four = result.cells
    assert two.failure is not None
    assert "request p5/c2/on3: was cancelled" in two.failure
    assert two.off is two.on is two.verdict is two.outputs is None
    assert two.ratios == {}
    assert one.verdict is not None
    assert four.verdict is not None
    assert {s.concurrency for s in result.samples} == {1, 4}
    assert {b.concurrency for b in result.blocks} == {1, 4}


def test_cells_are_never_averaged():
    result = run(FakeRunner(), plan(8, concurrency=(1, 4)))
    assert [c.concurrency for c in result.cells] == [1, 4]
    values = [c.on.values["output_throughput"] for c in result.cells if c.on]
    assert values[0] != values[1]


def test_sampling_and_seed_reach_every_request():
    runner = FakeRunner()
    result = run(runner, plan(3, temperature=0.8))
    assert {r.sampling.temperature for r in runner.submitted} == {0.8}
    assert [r.sampling.seed for r in runner.submitted[-3:]] == [7, 8, 9]
    (cell,) = result.cells
    assert cell.outputs is not None
    assert cell.outputs.identical is None


def test_conditions_hold_what_the_runner_says_as_json():
    class Odd(FakeRunner):
        def conditions(self):
            return {"device": object, "threads": 2}

    said = run(Odd(), plan(2)).conditions.runner
    assert said == {"device": str(object), "threads": 2}


def test_ctrl_c_ends_the_measurement():
    def interrupt(runner):
        if len(runner.submitted) > 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FakeRunner(before_advance=interrupt), plan(8))


def test_the_watcher_hears_of_every_block_and_request():
    events = []

    class Watcher:
        def block_started(self, arm, block, concurrency):
            events.append((arm, block, concurrency))

        def request_finished(self):
            events.append("request")

        def block_finished(self, block):
            events.append("end")

    runner, wanted = FakeRunner(), plan(2, repeats=1, concurrency=(1, 2))
    measure(runner, wanted, Watcher(), clock=runner.clock)
    assert events.count("request") == wanted.requests == 2 * 2 * 2 * 2
    assert events[:4] == [("off", 0, 1), "request", "request", "end"]
    assert events.count("end") == 8
