"""How much the engine drafts, and what of it counts as accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.reference.engines import (
    finish,
    generate,
    plain_greedy,
    request,
    sampled,
    submit,
    toy_engine,
)

PROMPTS = [[3, 9, 4], [5]]


def test_a_perfect_drafter_is_accepted_completely():
    engine = toy_engine("draft_target", 3, draft_seed=0)  # the target itself
    done = generate(engine, request(tokens=13))["r"]
    assert done.acceptance_rate == 1.0
    assert done.acceptance_length == 4.0
    assert done.steps == 3  # 1 token from the prefill, then 3 x 4
    assert done.drafted == 9


def test_the_last_token_is_never_drafted():
    """With 2 tokens left only one can be a draft token; with 1 left none."""
    engine = toy_engine("draft_target", 8)
    done = generate(engine, request(tokens=3), request("s", tokens=2))
    assert (done["r"].drafted, done["r"].steps) == (1, 1)
    assert (done["s"].drafted, done["s"].steps) == (0, 1)


def test_draft_length_follows_the_running_requests():
    engine = toy_engine("draft_target", {1: 5, 2: 3})
    for name, tokens in (("a", 30), ("b", 12), ("c", 6)):
        submit(engine, request(name, tokens=tokens))
    _, records = finish(engine)
    longest: dict[int, int] = {}
    for record in records:
        if record.kind == "decode":
            before = longest.get(record.running, 0)
            longest[record.running] = max(before, record.draft_length)
    assert longest == {3: 0, 2: 3, 1: 5}


@pytest.mark.parametrize("own_length", [2, 6])
def test_a_request_has_its_own_draft_length(own_length):
    """The map says 3 for two requests; it was built for its longest, 6."""
    engine = toy_engine("draft_target", {1: 6, 2: 3})
    own = engine.method.model_copy(update={"draft_length": own_length})
    submit(engine, request("own", tokens=20, speculation=own))
    submit(engine, request("usual", tokens=20))
    engine.advance()
    (record,) = engine.advance().records
    assert record.drafted == own_length + 3
    assert record.draft_length == max(own_length, 3)


def test_a_request_has_its_own_longest_ngram():
    """With one token to match, the last occurrence counts; with two, the longer."""
    engine = toy_engine("ngram", 1, slots=2)
    prompt = [2, 8, 5, 3, 8, 7, 2, 8]
    drafts = []
    propose = engine._drafter.propose

    def watched(contexts):
        trees = propose(
            [replace(c, tokens=prompt) for c in contexts]  # whatever was emitted
        )
        drafts.append([tree.tokens for tree in trees])
        return trees

    engine._drafter.propose = watched
    own = engine.method.model_copy(update={"max_matching_ngram": 1})
    submit(engine, request("usual"))
    submit(engine, request("own", speculation=own))
    engine.advance()
    engine.advance()
    assert drafts == [[(5,), (7,)]]


def test_drafting_resumes_after_steps_without_it():
    """While nothing is drafted the draft model falls behind, and must catch up."""
    engine = toy_engine("draft_target", {1: 4})
    submit(engine, request("a", tokens=40))
    submit(engine, request("b", tokens=20))
    done, _ = finish(engine)
    assert done["a"].tokens == plain_greedy((3, 9, 4), 40)
    assert done["a"].acceptance_rate == 1.0


def test_accepted_counts_only_what_became_output():
    """A block cut by an end token counts the tokens before the cut."""
    plain = plain_greedy((3, 9, 4), 20)
    cut = next(i for i in range(2, 6) if plain[i] not in plain[:i])
    engine = toy_engine("draft_target", 6)
    submit(engine, request(tokens=20, ignore_eos=False), frozenset({plain[cut]}))
    done = finish(engine)[0]["r"]
    assert done.tokens == plain[: cut + 1]
    assert (done.steps, done.drafted, done.accepted) == (1, 6, cut)


def test_a_sampled_result_follows_the_draft_length_but_stays_a_valid_text():
    """With a map the draws fall differently alone and together."""

    def asked(i):
        return request(str(i), PROMPTS[i], 10, sampling=sampled(i))

    together = generate(
        toy_engine("draft_target", {1: 4}, draft_seed=1), asked(0), asked(1)
    )
    for done in together.values():
        assert len(done.tokens) == 10
        assert done.accepted <= done.drafted
