"""What a reader sees: conditions, numbers, verdicts, in plain text of 80 columns."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from tests.bench.fakes import FakeRunner, conditions, plan, run
from trtspec.bench.arms import Endpoint
from trtspec.bench.records import Load
from trtspec.bench.result import BenchResult
from trtspec.bench.sentences import (
    break_even_text,
    describe_speculation,
    verdict_lines,
)
from trtspec.bench.table import pair_rows, print_result


def text_of(result: BenchResult, width: int = 80) -> str:
    stream = io.StringIO()
    print_result(result, Console(file=stream, width=width))
    return stream.getvalue()


def measured(*args, **kwargs) -> BenchResult:
    return run(*args, **kwargs).result


def line_of(result: BenchResult) -> str:
    (cell,) = result.cells
    return next(verdict_lines(cell))[0]


@pytest.fixture(scope="module")
def result():
    return measured(FakeRunner(on_step=1.2), plan(40, concurrency=(1, 4)))


def test_the_rows_of_a_pair(result):
    rows = {row[0]: row[1:] for row in pair_rows(result.cells[0])}
    assert rows == {
        "output tokens/s": ("1.1", "1.7", "1.55 [1.55, 1.55]"),
        "total tokens/s": ("5.7", "8.8", ""),
        "requests/s": ("0.22", "0.34", ""),
        "TTFT ms p50/p95/p99": ("500/500/500", "500/500/500", "1.00 [1.00, 1.00]"),
        "TPOT ms p50/p95/p99": ("1000/1000/1000", "600/600/600", "0.60 [0.60, 0.60]"),
        "E2E s p50/p95/p99": ("4.50/4.50/4.50", "2.90/2.90/2.90", "0.64 [0.64, 0.64]"),
        "chunk gap ms p50/p95/p99": ("1000/1000/1000", "1200/1200/1200", ""),
        "acceptance rate": ("-", "0.333", ""),
        "acceptance length": ("1.00", "2.00", ""),
        "tokens/engine step": ("1.00", "2.00", ""),
        "drafting %": ("0.0", "10.0", ""),
        "target forward %": ("80.0", "80.0", ""),
        "requests in flight": ("1.0", "1.0", ""),
    }


def test_a_percentile_without_enough_samples_is_a_dash():
    (cell,) = measured(FakeRunner(), plan(2)).cells
    rows = {row[0]: row[1:] for row in pair_rows(cell)}
    assert rows["E2E s p50/p95/p99"][0] == "4.50/-/-"


def test_the_report_names_the_conditions(result):
    text = text_of(result)
    for words in (
        "off: toy-abababababab: speculation none",
        "on: toy-abababababab: speculation ngram, draft length 3, max matching ngram 2",
        "Toy CPU, 2 usable cores, 16 GiB, device fake, threads 1",
        "python 3.11.2, trtspec 0.1.0, torch 2.13.0, float32",
        "40 prompts (toy.jsonl, sha256 cdcdcdcdcdcd), up to 5 tokens, greedy",
        "3 blocks per arm after 1 warm-up, interleaved",
    ):
        assert words in text
    assert "tensorrt_llm" not in text


def test_the_report_has_a_table_and_a_verdict_per_load(result):
    text = text_of(result)
    for concurrency in (1, 4):
        assert f"\nconcurrency {concurrency} " in text
        assert f"\nconcurrency {concurrency}, on: 1." in text
    assert text.count("-> faster") == 2
    assert "break-even, on: always faster on this ladder" in text


def test_the_report_is_plain_text_where_there_is_no_terminal(result):
    text = text_of(result)
    assert "\x1b" not in text
    table = [line for line in text.splitlines() if " p50/p95/p99 " in line]
    assert len(table) == 8


def test_a_pipe_gets_each_verdict_on_one_line(result):
    lines = text_of(result, 40).splitlines()
    assert sum(line.endswith("-> faster") for line in lines) == 2


@pytest.mark.parametrize("candidates", [1, 3])
def test_realistic_numbers_fit_into_80_columns_uncut(candidates):
    random = np.random.default_rng(2)
    runner = FakeRunner(
        prefill_seconds=0.035,
        off_step=0.0231,
        on_step=0.0267,
        factor=lambda request: float(random.uniform(0.8, 1.3)),
    )
    of = plan(40, output_tokens=48, concurrency=(1, 8), control=True)
    more = [
        of.arms[-1].model_copy(update={"name": name})
        for name in ("eagle3-tree", "draft-target")[: candidates - 1]
    ]
    result = measured(runner, of.model_copy(update={"arms": (*of.arms, *more)}))
    stream = io.StringIO()
    terminal = Console(file=stream, width=80, force_terminal=True, color_system=None)
    print_result(result, terminal)
    text = stream.getvalue()
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_many_arms_have_a_row_each():
    of = plan(8, control=True)
    third = of.arms[-1].model_copy(update={"name": "eagle3-tree"})
    result = measured(FakeRunner(), of.model_copy(update={"arms": (*of.arms, third)}))
    text = text_of(result)
    for arm in ("off", "off again", "on", "eagle3-tree"):
        assert any(line.startswith(f"{arm} ") for line in text.splitlines()), arm
    assert text.count("8/8") >= 2


def test_the_verdict_line_says_speed_latency_outputs_and_word(result):
    assert next(verdict_lines(result.cells[0])) == (
        "concurrency 1, on: 1.55x output throughput [1.55, 1.55], "
        "E2E p50 ratio 0.64 [0.64, 0.64]; 40/40 outputs identical -> faster",
        "faster",
    )


def test_the_control_has_a_line_that_says_what_can_be_seen():
    (cell,) = measured(FakeRunner(), plan(8, control=True)).cells
    last = list(verdict_lines(cell))[-1][0]
    assert last == (
        "concurrency 1, off again: 1.00x output throughput [1.00, 1.00], E2E p50 "
        "ratio 1.00 [1.00, 1.00]; differences of 3.0% and more can be seen"
    )


def test_a_control_that_can_see_nothing_says_so():
    (cell,) = measured(FakeRunner(), plan(8, control=True)).cells
    control = cell.control.model_copy(update={"visible": None})
    last = list(verdict_lines(cell.model_copy(update={"control": control})))[-1][0]
    assert last.endswith("; too unsure for any difference to be seen")


def test_a_no_claim_says_why():
    line = line_of(measured(FakeRunner(), plan(8, repeats=2)))
    assert line.endswith("-> no claim (needs 3 blocks and 8 prompts, has 2 and 8)")


def test_without_intervals_the_line_shows_none():
    result = measured(FakeRunner(), plan(8, repeats=1))
    assert "1.50x output throughput, E2E p50 ratio 0.67;" in line_of(result)
    rows = {row[0]: row[3] for row in pair_rows(result.cells[0])}
    assert rows["output tokens/s"] == "1.50 [no interval]"


def test_differing_outputs_are_counted_in_the_line():
    def flips(r):
        return [int(r.speculate and len(r.prompt) == 1), 2, 3, 4, 5]

    line = line_of(measured(FakeRunner(output_of=flips), plan(8)))
    assert "7/8 outputs identical, 1 differing -> faster" in line


def test_sampled_outputs_are_said_not_to_be_compared():
    result = measured(FakeRunner(), plan(8, temperature=0.8))
    assert "sampled, so outputs are not compared" in line_of(result)
    assert "temperature 0.8, top-k 0, top-p 1, seed 7" in text_of(result)


def test_a_failed_load_has_a_line_and_no_table():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p1/c2/on/1")
    text = text_of(measured(runner, plan(8, concurrency=(1, 2))), 200)
    assert (
        "concurrency 2: no numbers, 1 requests of arm on failed; p1: was cancelled"
        in text
    )
    assert text.count(" p50/p95/p99 ") == 4


def test_a_busy_machine_is_warned_of():
    busy = measured(FakeRunner(), plan(2, busy=1.5))
    assert "warning: other programs used 1.5 cores" in text_of(busy)
    assert "warning" not in text_of(measured(FakeRunner(), plan(2, busy=0.1)))


def test_an_off_arm_that_does_not_repeat_itself_is_warned_of():
    seen = []

    def drifting(request):
        seen.append(request)
        return [len(seen)] * 5

    text = text_of(measured(FakeRunner(output_of=drifting), plan(2)), 100)
    assert "concurrency 1: off repeats its own output for 0/2 prompts only" in text


def test_a_partial_result_says_so(result):
    partial = result.model_copy(update={"partial": True})
    assert "warning: partial: the run ended before" in text_of(partial)


def test_forced_acceptance_is_warned_of(result):
    name = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
    changed = conditions({}).model_copy(update={"environment": {name: "3"}})
    plan_ = result.plan.model_copy(update={"conditions": changed})
    text = " ".join(text_of(result.model_copy(update={"plan": plan_})).split())
    assert f"warning: ${name}: '3' forces" in text
    assert "acceptance length 4" in text


def test_a_break_even_is_told_with_its_interval():
    from trtspec.bench.cells import BreakEven

    found = BreakEven(kind="crossing", concurrency=5.04, interval=(3.0, 8.0))
    assert break_even_text(found) == "at 5.0 requests [3.0, 8.0]"
    assert break_even_text(BreakEven(kind="no claim", reason="too few")) == (
        "no claim (too few)"
    )


def test_speculation_is_described_from_any_recipe():
    described = describe_speculation(
        {"method": "draft_target", "model": "./draft", "revision": None}
    )
    assert described == "speculation draft_target, model ./draft"
    assert describe_speculation(None) == "speculation unknown"


def test_a_map_of_draft_lengths_is_described_as_a_recipe_means_it():
    described = describe_speculation(
        {"method": "ngram", "draft_length": {"2": 4, "8": 2}}
    )
    assert described == (
        "speculation ngram, draft length 4 up to 2 / 2 up to 8 running requests / "
        "none above"
    )


def test_names_are_no_markup():
    loads = (Load(concurrency=1, category="[/code] :smile:"),)
    named = measured(FakeRunner(), plan(8))
    cell = named.cells[0].model_copy(update={"load": loads[0]})
    odd = {name.replace("on", "[on] [/x]"): arm for name, arm in cell.arms.items()}
    compared = {"[on] [/x]": cell.comparisons["on"]}
    cell = cell.model_copy(update={"arms": odd, "comparisons": compared})
    text = text_of(named.model_copy(update={"cells": (cell,)}), 200)
    assert "[on] [/x] / off" in text
    assert "concurrency 1, [/code] :smile:" in text


@pytest.mark.parametrize("arms", [1, 2])
def test_a_file_gets_whole_tables_however_wide_they_are(arms):
    """Cut to the 80 columns of no terminal, they would lack digits."""
    named = measured(FakeRunner(), plan(8))
    cell = named.cells[0]
    names = [
        f"a-candidate-with-a-name-that-is-long-{'x' * 60}-{n}" for n in range(arms)
    ]
    cell = cell.model_copy(
        update={
            "arms": {"off": cell.arms["off"], **dict.fromkeys(names, cell.arms["on"])},
            "comparisons": dict.fromkeys(names, cell.comparisons["on"]),
        }
    )
    text = text_of(named.model_copy(update={"cells": (cell,)}), 80)
    assert "…" not in text
    for name in names:
        assert name in text
    assert "1.50 [1.50, 1.50]" in text


def test_of_servers_only_the_client_is_known():
    """Its processor, memory and torch are not those that the numbers come from."""
    of = plan(8, prompts_cached=True)
    here = measured(FakeRunner(), of)
    endpoint = Endpoint(url="http://h", model="m", api="chat")
    arms = [
        a.model_copy(update={"endpoint": endpoint, "artifact": None}) for a in of.arms
    ]
    there = here.model_copy(
        update={"plan": of.model_copy(update={"arms": tuple(arms)})}
    )
    assert "every prompt in the KV cache" in text_of(here)
    assert "torch 2.13.0" in text_of(here)
    assert "the client's" not in text_of(here)
    text = text_of(there)
    assert "every prompt sent once before" in text
    assert "servers' machines are not known" in text
    assert "torch" not in text
    assert "CPU time and memory are the client's" in text
