"""Replayed cases of what users suffered from: numbers that must not become a claim.

Case 16: a benchmark on meaningless input (vllm-project/vllm issue 52536,
ggml-org/llama.cpp issue 26100). Case 21: degenerate text behind a splendid speed
(NVIDIA/TensorRT-LLM issues 8713 and 11125).
"""

from __future__ import annotations

import numpy as np

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.cells import Comparison
from trtspec.bench.doubts.prompts import prompt_doubts
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.sentences import verdict_text

LETTER = (
    "Dear neighbour, the lift in our house stands still again since Tuesday, and the "
    "firm that looks after it has not called back. Could you ask the owner whether a "
    "second firm may be sent for? My mother cannot climb four floors, and the post for "
    "the upper flats is left in the hall, where anybody can take it. I have written "
    "down the times at which I called, and would add them to a letter of all of us."
)


def prompt(name: str, text: str, ids=None) -> BenchPrompt:
    return BenchPrompt(name, "", ({"role": "user", "content": text},), ids)


def measured(runner: FakeRunner, doubts=(), count: int = 8, **changes) -> Comparison:
    of = plan(count, **changes)
    prompts = of.prompts.model_copy(update={"doubts": doubts})
    done = run(runner, of.model_copy(update={"prompts": prompts}))
    return done.result.cells[0].comparisons["on"]


def carries_nothing(comparison: Comparison) -> bool:
    """No speed-up is there to be quoted, in numbers or in words."""
    text = verdict_text(comparison)
    return (
        comparison.verdict.word == "no claim"
        and set(comparison.ratios.values()) == {None}
        and "x output throughput" not in text
    )


def spoken(request) -> list[int]:
    """Tokens that repeat nothing."""
    start = 7 * len(request.prompt)
    return [(start + 13 * i) % 997 for i in range(request.max_new_tokens)]


def test_case_16_a_random_token_ids():
    ids = np.random.default_rng(16).integers(0, 49152, (64, 256))
    prompts = [prompt(f"p{i}", f"{i}", tuple(r.tolist())) for i, r in enumerate(ids)]
    doubts = prompt_doubts(prompts)
    assert [doubt.id for doubt in doubts] == ["random-prompts"]
    comparison = measured(FakeRunner(), doubts, fixed_length=True)
    assert carries_nothing(comparison)
    assert "64 of 64" in comparison.verdict.reason


def test_case_16_b_one_prompt_twenty_times():
    doubts = prompt_doubts([prompt(f"p{i}", LETTER) for i in range(20)])
    assert any(doubt.fatal for doubt in doubts)
    comparison = measured(FakeRunner(), doubts)
    assert carries_nothing(comparison)
    assert "19 of 20" in comparison.verdict.reason


def test_a_real_prompt_each_is_no_doubt():
    words = LETTER.split()
    texts = [" ".join(words[i:] + words[:i]) for i in range(20)]
    assert prompt_doubts([prompt(f"p{i}", t) for i, t in enumerate(texts)]) == ()


def test_case_21_a_one_id_again_and_again_at_the_ceiling():
    runner = FakeRunner(
        drafts=3, accepts=3, output_of=lambda request: [4211, 87, *[0] * 62]
    )
    comparison = measured(runner, count=12, output_tokens=64)
    assert carries_nothing(comparison)
    reason = comparison.verdict.reason
    assert "one token or short phrase repeated" in reason
    assert "at its ceiling" in reason


def test_case_21_b_drafted_and_never_accepted():
    runner = FakeRunner(accepts=0, output_of=spoken)
    comparison = measured(runner, count=20, output_tokens=12)
    assert comparison.verdict.word == "slower"
    (doubt,) = [d for d in comparison.doubts if d.id == "nothing-accepted"]
    for suspect in ("speculation does nothing", "head", "cache reuse", "precision"):
        assert suspect in doubt.what
