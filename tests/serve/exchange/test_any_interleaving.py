"""Streamed text = unstreamed text = a bare runner's, whatever else is in the batch.

For methods whose draft length does not follow the batch. With a map of draft lengths,
or a suffix pool of all requests, what is drafted for one request depends on the others.
Then this holds for greedy requests; a sampled one draws as often as it is drafted for,
so that its seed gives other draws in other company: see the last test here.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.serve.byte_toys import (
    METHODS,
    SENTENCES,
    byte_recipe,
    byte_runner,
    tokens_of,
)
from tests.serve.exchange.asking import Ask
from tests.serve.exchange.judging import judge
from tests.serve.exchange.stepping import play

STOPS = ("t on t", "🙂 i", "e dog", "好世", "s a 🚀", "a", " ")
EXAMPLES = 10
MANY = 12
OFF = (("enabled", False),)
OWN = ((("enabled", True), ("draft_length", 1)), (("draft_length", 3),))
CHAINS = ("ngram", "suffix", "draft_target")


@pytest.fixture(scope="module")
def runners(byte_models):
    """Name → a runner to be served, and a bare one over the same target."""
    lender = byte_runner(byte_models, "none")
    return {
        name: [byte_runner(byte_models, name, lender) for _ in range(2)]
        for name in METHODS
    }


def pieces():
    """Prompts: beginnings of sentences as text, or any of their tokens."""
    ids = [tokens_of(f"{sentence} {sentence}") for sentence in SENTENCES]
    texts = st.sampled_from(SENTENCES).flatmap(
        lambda s: st.integers(1, 10).map(lambda n: s[:n])
    )
    tokens = st.sampled_from(ids).flatmap(
        lambda found: st.tuples(st.integers(0, 20), st.integers(1, 16)).map(
            lambda at: tuple(found[at[0] : at[0] + at[1]])
        )
    )
    return st.one_of(texts, tokens)


def asks(name: str):
    """Requests of every kind, that come and go at any time."""
    speculation = [None, None, OFF, *(OWN if name in CHAINS else ())]
    return st.builds(
        Ask,
        prompt=pieces(),
        tokens=st.integers(1, 24),
        temperature=st.sampled_from([0.0, 0.0, 0.7, 1.3]),
        top_k=st.sampled_from([None, -1, 0, 5]),
        top_p=st.sampled_from([None, 1.0, 0.9]),
        seed=st.integers(-2, 1000),
        n=st.sampled_from([1, 1, 1, 2]),
        stop=st.lists(st.sampled_from(STOPS), max_size=2, unique=True).map(tuple),
        logprobs=st.sampled_from([None, None, 0, 3]),
        ignore_eos=st.booleans(),
        speculation=st.sampled_from(speculation),
        chat=st.booleans(),
        joins=st.tuples(st.integers(0, 12), st.integers(0, 12)),
        leaves=st.sampled_from([None, None, None, 0, 1, 4]),
    )


def check(runners, name: str, asked, seen: Counter) -> None:
    """Play requests, and compare each that stays with a bare runner."""
    served, bare = runners[name]
    recipe = byte_recipe(name)
    for ask, replies in zip(asked, play(served, recipe, asked), strict=True):
        if replies is None:
            seen["left"] += 1
            continue
        alone = ask.alone(bare, recipe.speculation)
        judge(ask, *replies, alone, seen)


@pytest.mark.parametrize("name", METHODS)
def test_any_request_among_any_others(runners, name):
    seen = Counter()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # shrinking would take minutes
    )
    @given(st.lists(asks(name), min_size=1, max_size=5))
    def holds(asked):
        check(runners, name, asked, seen)

    holds()
    assert seen["answers"] > 10
    assert seen["left"] > 0


HARD = (
    *("character of several tokens", "event with tokens and no text"),
    *("stop string", "stop string over tokens", "stop string over chunks"),
    *("end of sequence", "length", "left"),
)
DRAFTED = ("several tokens in a chunk", "stop string in a draft")


def drawn(chance: random.Random, name: str) -> Ask:
    """A request that is likely to be hard."""
    sentence = chance.choice(SENTENCES)
    ids = tokens_of(f"{sentence} {sentence}")
    begin = chance.randrange(12)
    prompt = tuple(ids[begin : begin + chance.randint(2, 18)])
    speculation = [None] * 4 + [OFF, *(OWN if name in CHAINS else ())]
    return Ask(
        prompt=sentence[: chance.randint(3, 10)] if chance.random() < 0.4 else prompt,
        tokens=chance.randint(6, 30),
        temperature=chance.choice([0.0, 0.0, 0.5, 1.0]),
        top_k=chance.choice([None, 4, 30]),
        top_p=chance.choice([None, 0.95]),
        seed=chance.randrange(10_000),
        n=chance.choice([1, 1, 2]),
        stop=tuple(chance.sample(STOPS[:5], chance.choice([0, 1, 2]))),
        logprobs=chance.choice([None, 2]),
        ignore_eos=chance.random() < 0.5,
        speculation=chance.choice(speculation),
        chat=chance.random() < 0.5,
        joins=(chance.randrange(30), chance.randrange(30)),
        leaves=chance.choice([None] * 5 + [2]),
    )


def repeating() -> list[Ask]:
    """Greedy requests that say again what they read, and end in the midst of it."""
    said = [
        (SENTENCES[0], 26, ("t on t", "e dog", "he mat")),
        (SENTENCES[1], 36, ("🚀 is", " a 🚀", "🙂 🙂")),
        (SENTENCES[2], 36, ("好世", "世界 hé", "ö")),
    ]
    at_its_end = Ask(prompt=tuple(tokens_of(SENTENCES[1])[-8:]), joins=(1, 9))
    return [at_its_end] + [
        Ask(
            prompt=tuple(tokens_of(f"{sentence} {sentence}")[:size]),
            tokens=30,
            stop=(stop,),
            ignore_eos=True,
            joins=(at, 3 + at),
        )
        for sentence, size, stops in said
        for at, stop in enumerate(stops)
    ]


@pytest.mark.parametrize("name", METHODS)
def test_many_at_once_with_all_that_is_hard(runners, name):
    chance = random.Random(f"many {name}")
    seen = Counter()
    asked = [*repeating(), *(drawn(chance, name) for _ in range(MANY))]
    check(runners, name, asked, seen)
    wanted = HARD if name == "none" else (*HARD, *DRAFTED)
    assert {what: seen[what] for what in wanted if not seen[what]} == {}


def test_choices_draw_apart_by_the_seeds_that_follow(runners):
    """Of negative seeds, too: Python's random takes -1 for 1."""
    served, bare = runners["ngram"]
    recipe = byte_recipe("ngram")
    asked = Ask(temperature=1.3, seed=-1, n=3, tokens=20, ignore_eos=True)
    [(streamed, _)] = play(served, recipe, [asked])
    texts = [read.text for read in streamed.answers]
    assert len(set(texts)) == 3
    for index, text in enumerate(texts):
        one = replace(asked, seed=index - 1, n=1)
        [chunks] = one.alone(bare, recipe.speculation)
        assert chunks[-1].completion.text == text


def test_a_map_of_draft_lengths_leaves_greedy_text_alone(byte_models):
    """Each request's drafts then depend on how many there are, its text does not."""
    speculation = METHODS["ngram"] | {"draft_length": {1: 5, 2: 2, 3: 1}}
    recipe = byte_recipe("ngram")
    recipe = type(recipe).model_validate(
        {**recipe.model_dump(by_alias=True), "speculation": speculation}
    )
    served, bare = (byte_runner(byte_models, "ngram", recipe=recipe) for _ in range(2))
    asked = [
        Ask(prompt=text, tokens=24, joins=(at, at + 2), ignore_eos=True)
        for at, text in enumerate(("a 🙂 is a 🙂", "the cat", "你好世界"))
    ]
    drafted = set()
    for ask, replies in zip(asked, play(served, recipe, asked), strict=True):
        [chunks] = ask.alone(bare, recipe.speculation)
        done = chunks[-1].completion
        for reply in replies:
            assert reply.answers[0].text == done.text
            drafted.add(reply.answers[0].figures["drafted"] == done.drafted)
    assert False in drafted, "none of them was drafted for otherwise than alone"
