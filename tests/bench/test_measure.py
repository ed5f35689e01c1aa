"""A whole benchmark: hand-computed numbers, failing loads, interleaving, warm-up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.bench.fakes import FakeRunner, arms, no_resources, plan, prompts, run
from trtspec.bench.arms import block_order
from trtspec.bench.cells import Cell
from trtspec.bench.measure import Session, measure, requests_of
from trtspec.bench.records import Load
from trtspec.bench.rundir import BenchRun, RunDirectory


def only(done: BenchRun) -> Cell:
    (cell,) = done.result.cells
    return cell


def word(done: BenchRun) -> str:
    return only(done).comparisons["on"].verdict.word


def test_all_numbers_of_a_cell_at_concurrency_one():
    """5 tokens: off 0.5 + 4 * 1 s; on 0.5 + 2 steps of 1.25 s with 2 tokens each."""
    cell = only(run(FakeRunner(), plan(8)))
    off, on = cell.arms["off"], cell.arms["on"]
    assert off.values["output_throughput"] == pytest.approx(5 / 4.5)
    assert on.values["output_throughput"] == pytest.approx(5 / 3.0)
    assert on.values["request_throughput"] == pytest.approx(1 / 3.0)
    # 1 + 2 + ... + 8 prompt tokens, 40 output tokens, in 24 s
    assert on.values["total_throughput"] == pytest.approx((36 + 40) / 24)
    for arm, tpot, e2e in ((off, 1.0, 4.5), (on, 0.625, 3.0)):
        of = arm.percentiles["e2e"]
        assert of.count == 24
        assert of.p50 is not None
        assert of.p50.value == pytest.approx(e2e)
        assert of.p50.interval == pytest.approx((e2e, e2e))
        assert of.p95 is not None
        assert of.p95.value == pytest.approx(e2e)
        assert of.p99 is None
        assert arm.percentiles["ttft"].mean == pytest.approx(0.5)
        assert arm.percentiles["tpot"].mean == pytest.approx(tpot)
        assert arm.in_flight == pytest.approx(1.0)
    assert on.percentiles["chunk_gap"].mean == pytest.approx(1.25)
    assert on.percentiles["lateness"].p50 is None
    # 2 steps draft 3 each and accept 1 each
    assert on.values["acceptance_rate"] == pytest.approx(1 / 3)
    assert on.values["acceptance_length"] == pytest.approx(2.0)
    assert on.values["tokens_per_step"] == pytest.approx(2.0)
    assert on.values["drafting_share"] == pytest.approx(0.1)
    assert on.values["verification_share"] == pytest.approx(0.8)
    assert off.values["acceptance_rate"] is None
    assert off.values["acceptance_length"] == 1.0
    assert off.values["drafting_share"] == 0.0
    assert on.acceptance is not None
    assert (on.acceptance.steps, on.acceptance.drafted) == (48, 144)
    assert [p.conditional for p in on.positions] == [1.0, 0.0, None]
    assert set(on.categories) == {"chat"}
    assert set(on.contexts) == {"0-255"}


def test_the_ratios_of_a_cell_at_concurrency_one():
    comparison = only(run(FakeRunner(), plan(8))).comparisons["on"]
    expected = {
        "output_throughput": 4.5 / 3.0,
        "ttft.p50": 1.0,
        "tpot.p50": 0.625,
        "e2e.p50": 3.0 / 4.5,
    }
    for tag, value in expected.items():
        ratio = comparison.ratios[tag]
        assert ratio is not None
        assert ratio.estimate == pytest.approx(value)
        # nothing varies, so there is no uncertainty
        assert ratio.interval == pytest.approx((value, value))
    assert comparison.ratios["e2e.p95"] is None  # 8 prompts carry no tail
    assert comparison.verdict.word == "faster"
    outputs = comparison.outputs
    assert (outputs.identical, outputs.prompts) == (8, 8)


def test_twenty_prompts_carry_a_ratio_of_p95():
    comparison = only(run(FakeRunner(), plan(20))).comparisons["on"]
    ratio = comparison.ratios["e2e.p95"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(3.0 / 4.5)
    assert comparison.ratios["e2e.p99"] is None


def test_throughput_at_concurrency_counts_wall_time_once():
    """4 prefills of 0.5 s in turn, then 4 decode steps for all four together."""
    done = run(FakeRunner(), plan(8, concurrency=(4,)))
    off = next(b for b in done.raw.blocks if b.arm == "off")
    assert off.wall_seconds == pytest.approx(2 * (4 * 0.5 + 4 * 1.0))
    cell = only(done)
    assert cell.arms["off"].values["output_throughput"] == pytest.approx(40 / 12.0)
    ratio = cell.comparisons["on"].ratios["output_throughput"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(12.0 / 9.0)


def test_a_useless_drafter_is_called_slower():
    done = run(FakeRunner(accepts=0), plan(8))
    assert word(done) == "slower"
    ratio = only(done).comparisons["on"].ratios["output_throughput"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(4.5 / 5.5)


def test_an_on_arm_that_drafts_nothing_at_equal_speed_is_no_difference():
    done = run(FakeRunner(accepts=0, drafts=0, on_step=1.0), plan(8))
    assert word(done) == "no difference"
    assert only(done).arms["on"].values["acceptance_rate"] is None


def test_differing_outputs_are_listed_and_do_not_become_identical():
    def flips(request):
        tokens = list(range(request.max_new_tokens))
        if request.speculate and len(request.prompt) == 3:
            tokens[2] = 99
        return tokens

    outputs = only(run(FakeRunner(output_of=flips), plan(8))).comparisons["on"].outputs
    assert outputs.identical == 7
    (difference,) = outputs.differences
    assert (difference.prompt_id, difference.position) == ("p3", 2)
    assert (difference.off, difference.on) == (2, 99)


def test_an_off_arm_that_does_not_repeat_itself_is_noticed():
    calls = []

    def drifting(request):
        calls.append(request.id)
        return [len(calls) if request.id.endswith("off/2") else 1] * 5

    outputs = (
        only(run(FakeRunner(output_of=drifting), plan(8))).comparisons["on"].outputs
    )
    assert (outputs.off_repeats, outputs.on_repeats) == (0, 8)


def test_prompts_with_a_single_token_are_left_out_of_the_tpot_ratio_only():
    def short(request):
        return [1] if len(request.prompt) == 1 else [1, 2, 3, 4, 5]

    cell = only(run(FakeRunner(output_of=short), plan(9)))
    assert cell.arms["off"].percentiles["tpot"].count == 8 * 3
    assert cell.arms["off"].percentiles["e2e"].count == 9 * 3
    ratio = cell.comparisons["on"].ratios["tpot.p50"]
    assert ratio is not None
    assert ratio.estimate == pytest.approx(0.625)


def test_without_any_tpot_there_is_no_tpot_ratio():
    cell = only(run(FakeRunner(output_of=lambda request: [1]), plan(8)))
    assert cell.comparisons["on"].ratios["tpot.p50"] is None
    assert cell.arms["off"].percentiles["tpot"].p50 is None


def test_two_repeats_carry_numbers_but_no_claim():
    done = run(FakeRunner(), plan(8, repeats=2))
    assert word(done) == "no claim"
    assert only(done).arms


def test_a_failed_load_has_no_numbers_and_the_others_keep_theirs():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p5/c2/on/3")
    done = run(runner, plan(8, concurrency=(1, 2, 4)))
    one, two, four = done.result.cells
    (failure,) = two.failures
    assert (failure.prompt_id, failure.block, failure.arm) == ("p5", 3, "on")
    assert failure.what == "was cancelled"
    assert two.arms == two.comparisons == {}
    assert one.comparisons
    assert four.comparisons
    assert not done.result.partial


def test_a_load_is_given_up_after_the_first_block_with_a_failure():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p1/c1/off/1")
    run(runner, plan(4))
    blocks = {r.id.rpartition("/")[2] for r in runner.submitted}
    assert blocks == {"0", "1"}


def test_loads_are_never_averaged():
    done = run(FakeRunner(), plan(8, concurrency=(1, 4)))
    assert [c.load.concurrency for c in done.result.cells] == [1, 4]
    values = [
        c.arms["on"].values["output_throughput"] for c in done.result.cells if c.arms
    ]
    assert values[0] != values[1]


def test_the_control_is_compared_with_off_and_says_what_can_be_seen():
    cell = only(run(FakeRunner(), plan(8, control=True)))
    assert list(cell.arms) == ["off", "off again", "on"]
    assert list(cell.comparisons) == ["on"]
    assert cell.control is not None
    assert cell.control.comparison.verdict.word == "no difference"
    # below the margin of 3 % a difference is called none, however sure it is
    assert cell.control.visible == pytest.approx(0.03)


def test_a_machine_that_drifts_takes_the_claim_away():
    """Off again is as much slower than off as on is faster."""

    def drift(request):
        return 1.6 if "off again" in request.id else 1.0

    cell = only(run(FakeRunner(factor=drift, on_step=1.7), plan(8, control=True)))
    verdict = cell.comparisons["on"].verdict
    assert verdict.word == "no claim"
    assert "off again / off is" in verdict.reason


def test_an_open_loop_is_a_cell_like_any_other():
    load = Load(arrivals="poisson", rate=0.02)  # slow enough not to be late
    done = run(FakeRunner(), plan(8, loads=(load,)))
    cell = only(done)
    assert cell.load == load
    assert cell.comparisons["on"].ratios["e2e.p50"] is not None
    off, on = (
        {(s.block, s.prompt_id): s.submitted for s in done.raw.samples if s.arm == arm}
        for arm in ("off", "on")
    )
    assert off == pytest.approx(on)


def test_goodput_counts_requests_that_keep_the_limits():
    cell = only(run(FakeRunner(), plan(8, goodput={"e2e": 4.0})))
    assert cell.arms["off"].values["goodput"] == 0.0
    assert cell.arms["on"].values["goodput"] == pytest.approx(1 / 3.0)


def test_sampling_seed_and_length_reach_every_request():
    runner = FakeRunner()
    done = run(runner, plan(3, temperature=0.8, fixed_length=True))
    assert {r.sampling.temperature for r in runner.submitted} == {0.8}
    assert [r.sampling.seed for r in runner.submitted[-3:]] == [7, 8, 9]
    assert {r.max_new_tokens for r in runner.submitted} == {5}
    assert all(r.ignore_eos for r in runner.submitted)
    assert only(done).comparisons["on"].outputs.identical is None


def test_all_arms_and_blocks_get_the_same_requests_in_the_order_of_blocks():
    runner = FakeRunner()
    run(runner, plan(4, control=True))
    blocks = [runner.submitted[i : i + 4] for i in range(4, len(runner.submitted), 4)]
    for requests in blocks:
        assert [r.prompt for r in requests] == [p.tokens for p in prompts(4)]
        assert [r.sampling.seed for r in requests] == [7, 8, 9, 10]
    names = ("off", "off again", "on")
    counted = [place for place in block_order(names, 3) if place[1]]
    seen = [tuple(requests[0].id.split("/")[2:]) for requests in blocks]
    assert [(arm, int(block)) for arm, block in seen] == counted
    assert [r[0].speculate for r in blocks] == [arm == "on" for arm, _ in counted]


def test_request_ids_are_unique():
    runner = FakeRunner()
    run(runner, plan(4, control=True, concurrency=(1, 2)))
    assert max(Counter(r.id for r in runner.submitted).values()) == 1


def test_the_warm_up_is_recorded_but_has_no_samples_and_enters_no_number():
    done = run(FakeRunner(), plan(4, concurrency=(2,), control=True))
    warm_up = [b for b in done.raw.blocks if b.warm_up]
    assert [b.arm for b in warm_up] == ["off", "on"]
    assert all(b.requests == 4 for b in warm_up)
    assert {s.block for s in done.raw.samples} == {1, 2, 3}
    assert [b.order for b in done.raw.blocks] == list(range(2 + 9))


def test_a_slow_warm_up_changes_no_number():
    def cold(request):
        return 50.0 if request.id.endswith("/0") else 1.0

    usual, slow = run(FakeRunner(), plan(8)), run(FakeRunner(factor=cold), plan(8))
    assert slow.raw.blocks[0].wall_seconds == 25 * usual.raw.blocks[2].wall_seconds / 2
    assert only(slow).comparisons == only(usual).comparisons


def test_no_arm_pays_for_prompts_that_the_other_finds_in_the_cache():
    def sums(runner):
        totals = Counter()
        for s in run(runner, plan(8, output_tokens=2)).raw.samples:
            totals[s.arm] += s.ttft
        return totals

    even = sums(FakeRunner(caches_prompts=True))
    assert even["off"] == pytest.approx(even["on"])


def test_ctrl_c_ends_the_measurement_and_keeps_a_partial_result(tmp_path):
    def interrupt(runner):
        if len(runner.submitted) > 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(FakeRunner(before_advance=interrupt), plan(8), tmp_path / "r")
    again = RunDirectory.reopen(tmp_path / "r")
    assert {(b.arm, b.block) for b in again.raw.blocks} == {
        ("off", 0), ("on", 0), ("off", 1), ("on", 1), ("on", 2),
    }  # fmt: skip


def test_the_watcher_hears_of_every_block_and_request():
    events = []

    class Watcher:
        def block_started(self, arm, block, load):
            events.append((arm, block, load))

        def request_finished(self):
            events.append("request")

        def block_finished(self, block):
            events.append("end")

        def block_failed(self, failures):
            events.append("failed")

    of = plan(2, repeats=1, concurrency=(1, 2))
    run(FakeRunner(), of, watcher=Watcher())
    assert events.count("request") == 2 * 2 * 2 * 2
    assert events[:4] == [("off", 0, "concurrency 1"), "request", "request", "end"]
    assert events.count("end") == 8
    assert "failed" not in events


def test_an_engine_that_is_busy_fails_the_load_and_not_the_program():
    runner = FakeRunner()
    of = plan(2)
    toy = arms(runner, of)
    runner.submit(_request())
    assert toy[0].driver is toy[1].driver
    done = run(runner, of)
    (failure,) = only(done).failures
    assert "busy with earlier requests" in failure.what


def _request():
    from trtspec.run import Request

    return Request("earlier", (1,), 3)


def test_by_category_a_load_sends_the_prompts_of_its_category_only():
    runner = FakeRunner()
    loads = tuple(Load(concurrency=1, category=c) for c in ("odd", "even"))
    of = plan(8, loads=loads, repeats=1)
    toy = [
        replace(
            arm,
            prompts=tuple(
                replace(p, category=("even", "odd")[i % 2])
                for i, p in enumerate(arm.prompts, start=1)
            ),
        )
        for arm in arms(runner, of)
    ]
    with TemporaryDirectory() as folder:
        directory = RunDirectory.create(Path(folder) / "r", of)
        done = measure(Session(directory, toy, resources=no_resources))
    sent = {(s.load, s.prompt_id) for s in done.raw.samples}
    assert sent == {
        *(("c1:odd", f"p{i}") for i in (1, 3, 5, 7)),
        *(("c1:even", f"p{i}") for i in (2, 4, 6, 8)),
    }
    assert requests_of(of.settings, toy) == len(runner.submitted) == 2 * 2 * (2 + 4)
