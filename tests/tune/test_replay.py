"""A replayed trace takes the very steps that the engine takes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from tests.reference.artifacts import recipe, write_model
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess
from trtspec.bench.records import Load
from trtspec.errors import RunError, UsageError
from trtspec.methods.draft_length import draft_length_at
from trtspec.reference.prefill import group_size
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import trace
from trtspec.run import DraftStep, Request, SamplingParams
from trtspec.tune.drawn import drawn
from trtspec.tune.record import prompt_trace
from trtspec.tune.replay import EngineStep, Replayed, replay, walk
from trtspec.tune.steady import walked
from trtspec.tune.trace import PromptTrace

LONGEST = 5
SLOTS = 3
MANY = 40
"""Slots where what is told does not depend on how many there are."""
PROMPTS = [(2, 9, 4, 3), (2, 11, 3), (2, 9, 9, 9, 9, 3), (2, 30, 4, 30, 4, 3)]
TOKENS = [14, 9, 20, 1]


def method(kind: str, draft_length) -> dict:
    if kind == "ngram":
        return {"method": "ngram", "draft_length": draft_length}
    return {"method": "draft_target", "model": "./draft", "draft_length": draft_length}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    draft = write_model(folder / "draft")
    weights = load_file(draft / "model.safetensors")
    noise = torch.Generator().manual_seed(3)
    for name, values in weights.items():  # right often, and not always
        weights[name] = values + 0.08 * torch.randn(values.shape, generator=noise)
    save_file(weights, draft / "model.safetensors", {"format": "pt"})
    return write_model(folder / "target"), draft


def runner(models, kind: str, draft_length, slots=SLOTS) -> ReferenceRunner:
    of = recipe(method(kind, draft_length), max_batch_size=slots)
    draft = models[1] if kind == "draft_target" else None
    return ReferenceRunner(of, models[0], draft, threads=1)


def requests(**options) -> list[Request]:
    return [
        Request(f"p{i}", prompt, tokens, **options)
        for i, (prompt, tokens) in enumerate(zip(PROMPTS, TOKENS, strict=True))
    ]


def traced(of: ReferenceRunner) -> list[PromptTrace]:
    found = trace(of, requests())
    return [
        prompt_trace(completion, places, limit=tokens)
        for completion, places, tokens in zip(
            found.completions, found.places, TOKENS, strict=True
        )
    ]


@pytest.fixture(scope="module")
def traces_of(models):
    """Kind of drafts → what was traced with the longest of them."""
    return cache(lambda kind: traced(runner(models, kind, LONGEST)))


def really(of: ReferenceRunner, concurrency: int) -> Replayed:
    """What the engine itself does with the same requests."""
    calls = [
        Call(r.id, BenchPrompt(r.id, "", (), r.prompt), r.max_new_tokens, r.sampling)
        for r in requests()
    ]
    done = InProcess(of).run(calls, Load(concurrency=concurrency))
    assert done.records is not None
    steps = [
        EngineStep(r.running, -1, r.draft_length, -1, r.drafted, r.accepted, r.emitted)
        for r in done.records
        if r.kind == "decode"
    ]
    own = {o.request_id: o.draft_steps or () for o in done.answered}
    return Replayed(tuple(steps), own, 0)


def without_longest(found: Replayed) -> Replayed:
    steps = tuple(step._replace(longest=-1, context=-1) for step in found.steps)
    return Replayed(steps, found.by_prompt)


def test_prompts_that_are_read_together_are_padded_to_the_longest():
    def of(size: int, name: str) -> PromptTrace:
        return made((1,), (0,)).model_copy(
            update={"prompt_tokens": size, "prompt_id": name}
        )

    three = [of(10, "a"), of(12, "b"), of(40, "c")]
    assert replay(three, 1, lambda _: 0, group_size).read == 62
    assert replay(three, 3, lambda _: 0, group_size).read == 2 * 12 + 40


@pytest.mark.parametrize("kind", ["ngram", "draft_target"])
@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_every_draft_length_is_replayed_as_it_is(models, traces_of, kind, concurrency):
    traces = traces_of(kind)
    assert sum(sum(t.accepted) for t in traces) > 0
    for length in range(1, LONGEST + 1):
        found = replay(traces, concurrency, lambda _, k=length: k, group_size)
        real = really(runner(models, kind, length), concurrency)
        assert without_longest(found) == real
        if concurrency == 1:
            assert max(step.longest for step in found.steps) <= length


schedules = st.dictionaries(
    st.integers(1, SLOTS), st.integers(1, LONGEST), min_size=1
).map(lambda entries: dict(sorted(entries.items())))


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["ngram", "draft_target"]), schedules, st.integers(1, SLOTS))
def test_every_schedule_is_replayed_as_it_is(
    models, traces_of, kind, schedule, concurrency
):
    found = replay(
        traces_of(kind), concurrency, lambda n: draft_length_at(schedule, n), group_size
    )
    real = really(runner(models, kind, schedule), concurrency)
    assert without_longest(found) == real


def test_the_answers_of_a_trace_are_those_of_plain_decoding(models):
    of = runner(models, "draft_target", LONGEST)
    answers = {c.request_id: c.tokens for c in trace(of, requests()).completions}
    calls = [
        Call(
            r.id,
            BenchPrompt(r.id, "", (), r.prompt),
            r.max_new_tokens,
            r.sampling,
            speculate=False,
        )
        for r in requests()
    ]
    plain = InProcess(of).run(calls, Load(concurrency=1))
    assert answers == {o.request_id: list(o.tokens or ()) for o in plain.answered}


def sampled_requests(count: int, seed: int) -> list[Request]:
    return [
        Request(
            f"s{number}",
            PROMPTS[number % len(PROMPTS)],
            12,
            SamplingParams(temperature=1.0, seed=seed + number),
            ignore_eos=True,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("kind", ["ngram", "draft_target"])
def test_sampled_drafts_are_accepted_as_often_as_their_trace_says(models, kind):
    """Over other seeds: the mean accepted tokens of a step, by draft length."""
    count = 120
    of = runner(models, kind, LONGEST, MANY)
    found = trace(of, sampled_requests(count, 0))
    traces = [
        prompt_trace(completion, places, limit=12)
        for completion, places in zip(found.completions, found.places, strict=True)
    ]
    courses = [one for course in drawn(traces, 20) for one in course]
    for length in (1, 3):
        real = runner(models, kind, length, MANY)
        done = []
        for request in sampled_requests(count, 10_000):
            real.submit(request)
        while real.busy:
            done += [c.completion for c in real.advance().chunks if c.completion]
        accepted = [step.accepted for c in done for step in c.draft_steps]
        expected = walked(courses, length).tokens_per_step
        error = np.std(accepted) / np.sqrt(len(accepted))
        assert np.mean(accepted) > 0
        # two samples of about the same size are compared, and what ends an answer cut
        assert 1 + np.mean(accepted) == pytest.approx(expected, abs=5 * error + 0.02)


def test_mixed_requests_and_a_busy_engine_are_refused(models):
    of = runner(models, "ngram", LONGEST)
    with pytest.raises(UsageError, match="some requests are greedy"):
        trace(of, [*requests(), *sampled_requests(1, 0)])
    of.submit(requests()[0])
    with pytest.raises(RunError, match="busy"):
        trace(of, requests())


def made(offered, accepted, limit=None) -> PromptTrace:
    emitted = len(offered) + 1
    return PromptTrace(
        prompt_id="p",
        prompt_tokens=3,
        limit=limit or emitted,
        emitted=emitted,
        offered=offered,
        accepted=accepted,
    )


def test_a_trace_by_hand():
    """6 tokens: the prefill's, then steps that emit 3, 1 and 1."""
    found = replay([made((4, 4, 4, 4, 4), (2, 4, 0, 0, 3))], 1, lambda _: 4)
    assert found.by_prompt["p"] == (
        DraftStep(4, 4, 2),
        # two more may be emitted, and the last one is never a draft
        DraftStep(1, 1, 0),
        DraftStep(0, 0, 0),
    )
    assert found.acceptance_length == pytest.approx(1 + 2 / 3)


def test_nothing_drafted_is_a_step_per_token():
    found = replay([made((4,) * 5, (4,) * 5)], 1, lambda _: 0)
    assert [step.emitted for step in found.steps] == [1] * 5
    assert found.acceptance_length == 1.0


def test_an_end_inside_a_draft_cuts_it():
    found = replay([made((4, 4, 4), (4, 0, 0), limit=50)], 1, lambda _: 4)
    assert found.by_prompt["p"] == (DraftStep(4, 4, 3),)


@pytest.mark.parametrize(
    "changes",
    [
        {"offered": (1,)},
        {"accepted": (2, 0)},
        {"limit": 2},
    ],
)
def test_a_trace_that_cannot_be_is_refused(changes):
    values = {
        "prompt_id": "p",
        "prompt_tokens": 3,
        "limit": 3,
        "emitted": 3,
        "offered": (1, 1),
        "accepted": (1, 0),
    }
    PromptTrace(**values)
    with pytest.raises(ValueError, match=r"tokens|places|emitted"):
        PromptTrace(**(values | changes))


places = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)),
    min_size=1,
    max_size=20,
)


@given(places, st.integers(0, 6), st.integers(0, 4), st.booleans())
def test_walking_alone_is_replaying_at_concurrency_1(drafts, length, room, branches):
    """The planner's short way takes the same steps."""
    offered = tuple(o for o, _, _ in drafts)
    one = made(offered, tuple(min(o, a) for o, a, _ in drafts), len(drafts) + 1 + room)
    if branches:
        nodes = tuple(o + more for o, _, more in drafts)
        one = one.model_copy(update={"drafted": nodes, "verified": nodes})
    found = replay([one], 1, lambda _: length)
    assert walk(one, length) == [step.longest for step in found.steps]
