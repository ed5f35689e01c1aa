"""Log-probabilities are those of a plain forward, whatever was drafted and accepted."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from tests.reference.engines import request, sampled, submit
from tests.reference.toy_heads import TOYS
from tests.reference.toys import full_logits, toy_slots
from trtspec.reference.engine import Engine
from trtspec.reference.logprobs import token_logprobs, with_logprobs
from trtspec.run import Chunk, Request

NAMES = (
    *("none", "ngram", "draft_target", "suffix", "medusa"),
    *("tree drawn without replacement", "eagle3, fixed tree", "lookahead"),
)
TOP = 4
PROMPTS = ((3, 9, 4), (7, 7, 7, 7), (5, 11, 2, 30, 8, 5, 11))


def engine_of(name: str) -> Engine:
    target = toy_slots(slots=4)
    drafter, method = TOYS[name].make(target.model, 4)
    return Engine(target, drafter, method)


def chunks_of(engine: Engine, *asked: Request) -> dict[str, list[Chunk]]:
    for one in asked:
        submit(engine, one)
    found = {one.id: [] for one in asked}
    while engine.queue:
        for chunk in engine.advance().chunks:
            found[chunk.request_id].append(chunk)
    return found


def plain(prompt, tokens) -> torch.Tensor:
    """Log-probabilities [output tokens, vocabulary] by one forward over all of it."""
    logits = full_logits((*prompt, *tokens)).float()
    return logits.log_softmax(-1)[len(prompt) - 1 : -1]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_they_are_those_of_a_plain_forward(name, temperature):
    """With speculation as without, for several requests at once."""
    asked = [
        request(
            f"{place} {speculate}",
            prompt,
            24,
            logprobs=TOP,
            speculate=speculate,
            sampling=sampled(place, temperature=temperature),
        )
        for place, prompt in enumerate(PROMPTS)
        for speculate in (True, False)
    ]
    found = chunks_of(engine_of(name), *asked)
    for one in asked:
        chunks = found[one.id]
        done = chunks[-1].completion
        said = [entry for chunk in chunks for entry in chunk.logprobs]
        assert [entry.token for entry in said] == done.tokens
        for entry, row in zip(said, plain(one.prompt, done.tokens), strict=True):
            assert math.isclose(entry.logprob, row[entry.token], abs_tol=1e-4)
            best = row.topk(TOP).values.tolist()
            values = [value for _, value in entry.top]
            assert values == pytest.approx(best, abs=1e-4)
            for token, value in entry.top:
                assert math.isclose(value, row[token], abs_tol=1e-4)
    together = [c for one in asked if one.speculate for c in found[one.id]]
    several = any(len(chunk.tokens) > 1 for chunk in together)
    assert several == (name != "none"), "no draft was accepted: nothing was tested"


def test_they_are_of_the_target_before_temperature_and_top_k():
    asked = request(
        "r", (3, 9, 4), 8, logprobs=0, sampling=sampled(1, temperature=0.3, top_k=1)
    )
    [*_, last] = chunks = chunks_of(engine_of("none"), asked)["r"]
    rows = plain(asked.prompt, last.completion.tokens)
    said = [entry for chunk in chunks for entry in chunk.logprobs]
    assert [e.logprob for e in said] == pytest.approx(
        [float(row[e.token]) for e, row in zip(said, rows, strict=True)], abs=1e-4
    )
    assert all(entry.logprob < 0 for entry in said)
    assert all(entry.top == () for entry in said)


def accepted_end(chunks: list[Chunk]) -> int | None:
    """A token that is new in its output and not the last of its chunk."""
    seen: list[int] = []
    for chunk in chunks:
        for token in chunk.tokens[:-1]:
            if token not in seen:
                return token
            seen.append(token)
        seen += chunk.tokens[-1:]
    return None


def test_one_for_each_token_even_if_the_end_cuts_a_draft():
    """Drafts go on behind the token that ends the output; what is cut has none."""
    engine = engine_of("draft_target")
    asked = [request(str(start), (start, 9, 4), 24) for start in range(2, 40, 6)]
    ends = {
        one: end
        for one in asked
        if (end := accepted_end(chunks_of(engine, one)[one.id])) is not None
    }
    assert ends, "no accepted token could be an end"
    for one, end in ends.items():
        again = replace(one, ignore_eos=False, logprobs=1)
        submit(engine, again, frozenset({end}))
        found = []
        while engine.queue:
            found += engine.advance().chunks
        assert found[-1].tokens[-1] == end
        assert [e.token for e in found[-1].logprobs] == list(found[-1].tokens)


def test_who_does_not_ask_gets_none():
    chunks = chunks_of(engine_of("ngram"), request())["r"]
    assert all(chunk.logprobs == () for chunk in chunks)


def test_a_chunk_without_tokens_has_none():
    chunk = Chunk("r", (), "", 0.0)
    asked = Request("r", (1,), 4, logprobs=2)
    assert with_logprobs(chunk, asked, torch.zeros(1, 3), []) is chunk


def test_values_are_natural_logarithms_of_the_softmax():
    logits = torch.tensor([[math.log(1), math.log(2), math.log(5)]])
    [found] = token_logprobs(logits + 7, [1], 2)
    assert found.logprob == pytest.approx(math.log(2 / 8))
    assert [token for token, _ in found.top] == [2, 1]
    assert [value for _, value in found.top] == pytest.approx(
        [math.log(5 / 8), math.log(2 / 8)]
    )


def test_more_alternatives_than_tokens_are_all_of_them():
    [found] = token_logprobs(torch.zeros(1, 3), [0], 20)
    assert len(found.top) == 3


def test_half_precision_is_widened_first():
    logits = torch.tensor([[0.0, 9.0]], dtype=torch.bfloat16)
    [found] = token_logprobs(logits, [1], 0)
    assert found.logprob == pytest.approx(-math.log1p(math.exp(-9)), rel=1e-3)
