"""Ten ways in which measurements of speculation have gone wrong, through the bench.

Each test plays a trap and shows what the bench makes of it. What the output is worth,
whether a model was sampled at all, and whether two texts are equally good, is for the
verify command to say; here it is only shown that bench claims nothing about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from tests.bench.doubts.scenes import arm, steps, varied
from tests.bench.fakes import FakeRunner, plan, run, sample
from tests.bench.http.events import DONE, answered, chat, role, usage
from trtspec.bench.acceptance import acceptance_of, by_position
from trtspec.bench.arms import Endpoint
from trtspec.bench.candidates import require_same_target
from trtspec.bench.cells import Cell, Comparison
from trtspec.bench.doubts import doubts_of, prompt_doubts
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.metrics import AcceptanceRate, ArmData
from trtspec.bench.outcome import Failed, Outcome
from trtspec.bench.result import Plan
from trtspec.bench.rundir import BenchRun
from trtspec.bench.sentences import outputs_text, sampling_words, verdict_lines
from trtspec.errors import UsageError
from trtspec.forced_acceptance import TENSORRT_LLM, refuse_forced_acceptance
from trtspec.recipe import Recipe
from trtspec.run import DraftStep, Request

FORCED = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"


def only(done: BenchRun) -> tuple[Cell, Comparison]:
    (cell,) = done.result.cells
    return cell, cell.comparisons["on"]


def with_environment(of: Plan, **variables: str) -> Plan:
    conditions = of.conditions.model_copy(update={"environment": variables})
    return of.model_copy(update={"conditions": conditions})


def sane(of: Plan) -> Comparison:
    """The same run without a trap, to see that it is the trap that is found."""
    return only(run(FakeRunner(), of))[1]


# 1. Forced acceptance: the engine accepts a set number of drafts, right or wrong.


def test_forced_acceptance_leaves_no_claim():
    assert sane(plan(8)).verdict.word == "faster"
    _, forced = only(run(FakeRunner(), with_environment(plan(8), **{FORCED: "3"})))
    assert forced.verdict.word == "no claim"
    assert FORCED in forced.verdict.reason


def test_forced_acceptance_is_refused_before_anything_is_measured():
    with pytest.raises(UsageError, match=FORCED):
        refuse_forced_acceptance({FORCED: "3"}, (TENSORRT_LLM,), "no speed-up is one")


def test_forced_acceptance_of_a_server_shows_in_its_steps():
    """A server's environment is not seen from here; that every step accepts two is."""
    of = plan(8)
    on = arm("on", lambda b, p: steps(*[2] * 20))
    (doubt,) = doubts_of(of, on, arm("off"))
    assert (doubt.id, doubt.fatal) == ("acceptance-pinned", True)


# 2. TPOT from chunks: a chunk holds several tokens, with speculation above all.


STREAM = ((100, 1), (120, 3), (140, 1), (160, 4), (180, 2))


def streamed(*chunks: tuple[float, int]) -> Outcome:
    """A server's answer; only the usage at its end says how many tokens there were."""
    events = [(ms, chat("x" * n)) for ms, n in chunks]
    last, total = chunks[-1][0], sum(n for _, n in chunks)
    end = [(last, chat(finish="stop")), (last + 1, usage(total)), (last + 2, DONE)]
    outcome = answered((10, role()), *events, *end)
    assert isinstance(outcome, Outcome)
    return outcome


def test_tpot_is_time_over_tokens_not_over_chunks():
    outcome = streamed(*STREAM)
    assert outcome.output_tokens == 11
    assert outcome.tpot == pytest.approx(0.008)
    per_chunk = (0.180 - 0.100) / (len(outcome.chunks) - 1)
    assert per_chunk == pytest.approx(0.020)  # what counting chunks would have said


def test_the_same_tokens_in_fewer_chunks_have_the_same_tpot():
    coarse = streamed((100, 1), (180, 10))
    assert coarse.tpot == pytest.approx(streamed(*STREAM).tpot)


# 3. A cold compile: the first block of one arm pays once, and it looks like a gain.


@dataclass
class ColdRunner(FakeRunner):
    """The off arm's first counted pass takes twice as long; nothing else differs."""

    on_step: float = 2.0
    seen: dict[bool, int] = field(default_factory=dict)

    def submit(self, request: Request) -> None:
        self.seen[request.speculate] = self.seen.get(request.speculate, 0) + 1
        super().submit(request)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.factor = self._factor

    def _factor(self, request: Request) -> float:
        warm_up, passed = 2, 2 + 8
        first = warm_up < self.seen[False] <= passed and not request.speculate
        return 2.0 if first else 1.0


def test_a_cold_first_block_is_no_gain():
    of = plan(8)
    cell, on = only(run(ColdRunner(), of))
    assert cell.blocks == 3
    assert on.ratios["output_throughput"] is not None
    assert (
        on.ratios["output_throughput"].estimate > 1.2
    )  # the mean alone would claim it
    assert on.verdict.word == "no claim"
    assert [d.id for d in on.doubts if d.id.startswith("cold")] == ["cold-first-block"]


def test_the_warm_up_takes_a_compile_out_of_the_numbers():
    @dataclass
    class Compiles(FakeRunner):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.factor = lambda r: 50.0 if len(self.submitted) <= 2 else 1.0

    cold, warm = only(run(Compiles(), plan(8)))[0], only(run(FakeRunner(), plan(8)))[0]
    assert cold.arms["off"].values == warm.arms["off"].values


# 4. Random-token prompts: acceptance on them says nothing.


def test_random_token_prompts_leave_no_claim():
    random = np.random.default_rng(0)
    prompts = [
        BenchPrompt(
            f"p{i}",
            "",
            ({"role": "user", "content": f"prompt {i}"},),
            tuple(random.integers(0, 49152, size=300).tolist()),
        )
        for i in range(8)
    ]
    of = plan(8)
    seen = of.prompts.model_copy(update={"doubts": prompt_doubts(prompts)})
    _, on = only(run(FakeRunner(), of.model_copy(update={"prompts": seen})))
    assert on.verdict.word == "no claim"
    assert "8 of 8 prompts look like random tokens" in on.verdict.reason


# 5. A baseline on another engine: its difference is not speculation's.


def recipe(**changes: object) -> Recipe:
    values = {
        "schema": "trtspec/v1",
        "name": "toy",
        "target": {"model": "./target", "dtype": "float32"},
        "speculation": {"method": "ngram", "draft_length": 3},
    }
    return Recipe.model_validate(values | changes)


@pytest.mark.parametrize(
    "changes",
    [{"backend": "pytorch"}, {"target": {"model": "./target", "dtype": "bfloat16"}}],
)
def test_artifacts_of_another_engine_or_precision_are_refused(changes):
    with pytest.raises(UsageError, match=r"backend|dtype"):
        require_same_target([recipe(), recipe(name="other", **changes)])


def test_servers_that_are_different_engines_leave_no_claim():
    of = plan(8)
    arms = tuple(
        info.model_copy(
            update={
                "artifact": None,
                "endpoint": Endpoint(url=f"http://{info.name}", model="m", api="chat"),
                "engine": {"owned_by": owner},
            }
        )
        for info, owner in zip(of.arms, ("transformers", "vllm"), strict=True)
    )
    _, on = only(run(FakeRunner(), of.model_copy(update={"arms": arms})))
    assert on.verdict.word == "no claim"
    assert "owned_by vllm and transformers" in on.verdict.reason


# 6. Re-tokenised baselines: one arm's tokens are counted by other means.


def test_both_arms_count_what_the_server_counted_whatever_the_text_is():
    """The text of a burst and of single tokens is the same; so is the count."""
    plain = streamed(*[(100.0 + 8 * i, 1) for i in range(11)])
    assert plain.text == streamed(*STREAM).text
    assert plain.output_tokens == streamed(*STREAM).output_tokens == 11


def test_an_arm_whose_server_does_not_count_has_no_numbers_at_all():
    uncounted = answered(
        (100, chat("some text")), (120, chat(finish="stop")), (121, DONE)
    )
    assert isinstance(uncounted, Failed)
    assert "tokens are not counted by chunks" in uncounted.what


def test_greedy_arms_whose_counts_differ_leave_no_claim():
    of = plan(8)
    on = arm("on", lambda b, p: {**varied(b, p), "output_tokens": 100})
    off = arm("off", lambda b, p: {"output_tokens": 80})
    assert [d.id for d in doubts_of(of, on, off) if d.fatal] == ["different-lengths"]


# 7. A rate over draft length x steps, whatever the schedule really drafted.


def test_the_rate_counts_what_was_drafted_not_length_times_steps():
    """A schedule that drafts 4, 2, 0, 2 and accepts 3, 1, 0, 2: 6 of 8, not of 16."""
    told = [
        DraftStep(4, 4, 3),
        DraftStep(2, 2, 1),
        DraftStep(0, 0, 0),
        DraftStep(2, 2, 2),
    ]
    one = sample(steps=4, drafted=8, accepted=6, draft_steps=told)
    assert AcceptanceRate().value(ArmData("on", (), (one,))) == 6 / 8
    acceptance = acceptance_of([one])
    assert acceptance is not None
    assert acceptance.length == 1 + 6 / 4
    # the third position was offered once only, so it is not 1 of 4
    assert [(p.offered, p.accepted) for p in by_position([one])] == [
        (3, 3), (3, 2), (1, 1), (1, 0),
    ]  # fmt: skip


# 8. A gate that has closed for good: what is measured is plain decoding.


@dataclass
class Gated(FakeRunner):
    """Stops drafting for good after some requests, as TensorRT-LLM's gate does."""

    closes_after: int = 0

    def submit(self, request: Request) -> None:
        done = sum(r.speculate for r in self.submitted)
        self.drafts, self.accepts = (0, 0) if done >= self.closes_after else (3, 1)
        super().submit(request)


def test_a_gate_that_closed_before_leaves_no_gain_to_claim():
    _, on = only(run(Gated(closes_after=0, on_step=0.5), plan(8)))
    assert on.verdict.word == "no claim"
    assert "nothing drafted" in on.verdict.reason
    assert "nothing-drafted" in [d.id for d in on.doubts]


def test_a_gate_that_closes_on_the_way_is_told():
    done = run(Gated(closes_after=12), plan(8))
    ids = [d.id for d in only(done)[1].doubts]
    assert "drafting-stopped" in ids


# 9. Silent greedy: a request asks for sampling, and the engine decodes greedily.


def test_top_k_alone_is_greedy_and_said_to_be():
    """Whether an engine really samples is the verify command's question.

    Bench says of a request with top-k and no temperature that it is greedy, and
    compares outputs as for any greedy run.
    """
    of = plan(8, temperature=0.0, top_k=50)
    assert sampling_words(of.settings) == "greedy"
    _, on = only(run(FakeRunner(), of))
    assert on.outputs.identical == 8


def test_sampled_outputs_are_not_compared_and_nothing_is_said_of_them():
    """An arm that is silently greedy gives other texts; bench has no test for that."""
    of = plan(8, temperature=0.8)

    def output_of(request: Request) -> list[int]:
        return (
            [7] * 5
            if request.speculate
            else [request.sampling.seed + i for i in range(5)]
        )

    _, on = only(run(FakeRunner(output_of=output_of), of))
    assert on.outputs.identical is None
    assert on.outputs.differences == ()
    assert outputs_text(on.outputs) == "sampled, so outputs are not compared"


# 10. Near ties: greedy texts that part are no bug yet, and equal ones no proof.


WORDS = ("bug", "error", "wrong", "lossless", "exact", "pass", "proof", "correct")


def parted(differing: int):
    """Greedy answers of which some part at their third token."""

    def output_of(request: Request) -> list[int]:
        tokens = [sum(request.prompt) % 50 + i for i in range(5)]
        parts = request.speculate and len(request.prompt) <= differing
        return [*tokens[:2], *(t + 100 for t in tokens[2:])] if parts else tokens

    return output_of


@pytest.mark.parametrize("differing", [0, 3, 8])
def test_greedy_differences_are_counted_and_not_judged(differing):
    """What a difference means, a near tie or a fault, the verify command tells."""
    cell, on = only(run(FakeRunner(output_of=parted(differing)), plan(8)))
    assert on.outputs.identical == 8 - differing
    assert {d.position for d in on.outputs.differences} <= {2}
    assert on.verdict == sane(plan(8)).verdict
    said = " ".join(text for text, _ in verdict_lines(cell)).lower()
    assert f"{8 - differing}/8 outputs identical" in said
    assert ("differing" in said) is (differing > 0)
    assert not [word for word in WORDS if word in said]


def test_an_arm_that_does_not_repeat_itself_is_told_from_one_that_differs():
    count = iter(range(10**6))

    def output_of(request: Request) -> list[int]:
        first = next(count) if not request.speculate else 0
        return [first, 1, 2, 3, 4]

    _, on = only(run(FakeRunner(output_of=output_of), plan(8)))
    assert on.outputs.off_repeats == 0
    assert on.outputs.on_repeats == 8
