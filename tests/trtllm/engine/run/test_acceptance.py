"""The engine's own counts, read as far as it gives any."""

from __future__ import annotations

from types import SimpleNamespace

from trtspec.run import Completion
from trtspec.trtllm.engine.run.acceptance import (
    Counts,
    count_engine,
    count_plain,
    engine_counts,
)


def result(iterations, drafted=None, accepted=0):
    speculative = SimpleNamespace(
        total_draft_tokens=drafted, total_accepted_draft_tokens=accepted
    )
    metrics = None
    if drafted is not None:
        metrics = SimpleNamespace(speculative_decoding=speculative)
    return SimpleNamespace(decoding_iter=iterations, request_perf_metrics=metrics)


def test_the_iteration_that_reads_the_prompt_is_no_step():
    assert engine_counts(result(5, 16, 7), 12) == Counts(4, 16, 7)


def test_without_metrics_accepted_tokens_follow_from_the_iterations():
    assert engine_counts(result(5), 12) == Counts(4, 0, 7)


def test_metrics_of_a_request_that_drafted_nothing_are_no_figure():
    assert engine_counts(result(1, 0), 1) == Counts(0, 0, 0)


def test_an_engine_that_says_nothing_leaves_nothing_known():
    completion = Completion("r", 3, tokens=[4, 5])
    count_engine(completion, None, 2)
    count_engine(completion, result(0), 2)
    assert (completion.steps, completion.drafted, completion.accepted) == (0, 0, 0)
    assert completion.acceptance_length is None


def test_plain_decoding_takes_a_step_per_token_but_the_first():
    for size, steps in ((0, 0), (1, 0), (5, 4)):
        completion = Completion("r", 3, tokens=list(range(size)))
        count_plain(completion)
        assert completion.steps == steps
