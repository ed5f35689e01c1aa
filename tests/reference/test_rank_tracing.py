"""Ranks along an answer tell of every fixed tree, step by step, what it would bring."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.artifacts import recipe, write_model
from tests.reference.toy_heads.eagle import toy_eagle3_head, toy_eagle_head
from tests.reference.toy_heads.eagle_files import write_eagle, write_eagle3
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.in_process import InProcess
from trtspec.bench.records import Load
from trtspec.errors import RunError, UsageError
from trtspec.reference.prefill import group_size
from trtspec.reference.rank_tracing import trace_ranks
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import trace
from trtspec.run import Request, SamplingParams
from trtspec.tune.candidate import tree_fields
from trtspec.tune.rank_tree import best_trees, comb, with_tree
from trtspec.tune.record import prompt_trace
from trtspec.tune.replay import replay

DEPTH, RANKS, SLOTS = 3, 4, 3
PROMPTS = [(2,), (4,), (6,), (3, 9)]
"""Tokens that the heads' text began with, but for the last."""
TOKENS = [14, 9, 16, 2]
KINDS = ("eagle", "eagle3", "eagle3, half the vocabulary")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    half = toy_eagle3_head(drafted=tuple(range(0, 48, 2)))
    return {
        "target": write_model(folder / "target"),
        "eagle": write_eagle(folder / "eagle", toy_eagle_head()),
        "eagle3": write_eagle3(folder / "eagle3", toy_eagle3_head()),
        KINDS[2]: write_eagle3(folder / "half", half),
    }


def runner(models, kind, tree) -> ReferenceRunner:
    name = kind.partition(",")[0]
    method = {"method": name, "model": "./head", "tree": [list(p) for p in tree]}
    if name == "eagle3":
        method["layers_to_capture"] = [0, 1, -1]
    of = recipe(method | tree_fields(name, tree), max_batch_size=SLOTS)
    return ReferenceRunner(of, models["target"], models[kind], threads=1)


def requests(**options) -> list[Request]:
    return [
        Request(f"p{i}", prompt, tokens, ignore_eos=True, **options)
        for i, (prompt, tokens) in enumerate(zip(PROMPTS, TOKENS, strict=True))
    ]


@pytest.fixture(scope="module")
def traces(models):
    """By kind of head, traces that know all ranks."""
    return {kind: ranks_of(models, kind) for kind in KINDS}


def ranks_of(models, kind):
    found = trace_ranks(
        runner(models, kind, comb(RANKS, DEPTH)), requests(), RANKS, DEPTH
    )
    return [
        prompt_trace(completion, places, limit=tokens, ranked=True)
        for completion, places, tokens in zip(
            found.completions, found.places, TOKENS, strict=True
        )
    ]


def really(of: ReferenceRunner, concurrency: int):
    """Every verification step that the engine itself takes, by request."""
    calls = [
        Call(
            r.id,
            BenchPrompt(r.id, "", (), r.prompt),
            r.max_new_tokens,
            r.sampling,
            ignore_end=True,
        )
        for r in requests()
    ]
    done = InProcess(of).run(calls, Load(concurrency=concurrency))
    steps = sum(record.kind == "decode" for record in done.records)
    return steps, {o.request_id: o.draft_steps or () for o in done.answered}


def replayed(traces, tree, concurrency: int):
    depth = max(map(len, tree))
    of_tree = [with_tree(one, tree) for one in traces]
    found = replay(of_tree, concurrency, lambda _: depth, group_size)
    return len(found.steps), found.by_prompt


path = st.lists(st.integers(0, RANKS - 1), min_size=1, max_size=DEPTH).map(tuple)


def closed(paths):
    """The tree of some paths: with every path that one of them begins with."""
    every = {p[:end] for p in paths for end in range(1, len(p) + 1)}
    return tuple(sorted(every, key=lambda p: (len(p), p)))


trees = st.sets(path, min_size=1, max_size=5).map(closed)


@pytest.mark.parametrize("kind", KINDS)
def test_something_is_right_and_not_always_the_likeliest(traces, kind):
    """Else the tests below would compare nothing with nothing."""
    ranks = [r for one in traces[kind] for place in one.ranks for r in place]
    assert ranks.count(0) > 3
    assert any(r > 0 for r in ranks)
    assert -1 in ranks
    deep = [place for one in traces[kind] for place in one.ranks if len(place) > 1]
    assert deep


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(KINDS), trees, st.integers(1, SLOTS))
def test_every_fixed_tree_is_replayed_as_it_is(models, traces, kind, tree, concurrency):
    found = replayed(traces[kind], tree, concurrency)
    assert found == really(runner(models, kind, tree), concurrency)


@pytest.mark.parametrize("kind", KINDS)
def test_the_tree_of_most_frequent_paths_is_replayed_as_it_is(models, traces, kind):
    for size, tree in best_trees(traces[kind], [1, 3, 5]).items():
        steps, own = really(runner(models, kind, tree), 2)
        assert (steps, own) == replayed(traces[kind], tree, 2)
        assert len(tree) == size
        assert sum(step.accepted for one in own.values() for step in one) > 0


def test_the_answers_are_those_of_plain_decoding(models):
    of = runner(models, "eagle", comb(RANKS, DEPTH))
    found = trace_ranks(of, requests(), RANKS, DEPTH)
    calls = [
        Call(
            r.id,
            BenchPrompt(r.id, "", (), r.prompt),
            r.max_new_tokens,
            r.sampling,
            speculate=False,
            ignore_end=True,
        )
        for r in requests()
    ]
    plain = InProcess(of).run(calls, Load(concurrency=1))
    assert [tuple(c.tokens) for c in found.completions] == [
        o.tokens for o in plain.answered
    ]
    assert not of.busy


def test_a_drafter_is_itself_again_afterwards(models):
    """It drafts its own trees, from nothing that was left behind."""
    tree = ((0,), (1,), (0, 0))
    of = runner(models, "eagle", tree)
    trace_ranks(of, requests(), RANKS, 2)
    assert really(of, 2) == really(runner(models, "eagle", tree), 2)


def test_nothing_is_drafted_and_every_place_is_noted(models):
    of = runner(models, "eagle3", comb(RANKS, DEPTH))
    found = trace_ranks(of, requests(), RANKS, DEPTH)
    for completion, places in zip(found.completions, found.places, strict=True):
        assert completion.drafted == 0
        assert len(places) == len(completion.tokens) - 1
        assert all(len(place.ranks) <= DEPTH for place in places)
        # a rank that is none of those looked at is the last that is noted
        assert all(rank >= 0 for place in places for rank in place.ranks[:-1])


def test_a_chain_is_the_ranks_that_are_0(models, traces):
    """What a chain's own trace says, and what the ranks say, is one and the same."""
    chain = tuple((0,) * depth for depth in range(1, DEPTH + 1))
    of = runner(models, "eagle", chain)
    own = trace(of, requests())
    for ranked, places in zip(traces["eagle"], own.places, strict=True):
        found = with_tree(ranked, chain)
        assert found.accepted == tuple(place.accepted for place in places)


def test_sampled_requests_are_refused(models):
    of = runner(models, "eagle", ((0,),))
    sampled = requests(sampling=SamplingParams(temperature=0.7))
    with pytest.raises(UsageError, match="sampled requests"):
        trace_ranks(of, sampled, RANKS, 1)


def test_a_drafter_without_trees_has_no_ranks(models):
    of = ReferenceRunner(recipe(), models["target"], None, threads=1)
    with pytest.raises(RunError, match="grows no trees"):
        trace_ranks(of, requests(), RANKS, DEPTH)
