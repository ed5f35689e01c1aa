"""The engine: the same greedy tokens as plain decoding, whoever joins or leaves."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.engines import (
    finish,
    generate,
    plain_greedy,
    request,
    sampled,
    submit,
    toy_engine,
)
from trtspec.errors import RunError
from trtspec.reference import step as step_module
from trtspec.reference.slots import SlotModel

PROMPTS = [[3, 9, 4], [5], [6, 2, 40, 9, 6, 2], [8, 8, 8, 8, 8, 8, 8, 8, 30]]


METHODS = [
    ("none", 1),
    *((m, k) for m in ("ngram", "draft_target") for k in (1, 2, 5, 8)),
]


@pytest.mark.parametrize(("method", "draft_length"), METHODS)
@pytest.mark.parametrize("slots", [1, 4])
def test_greedy_output_is_that_of_plain_decoding(method, draft_length, slots):
    engine = toy_engine(method, draft_length, slots=slots, draft_seed=1)
    asked = [request(str(i), p, tokens=16) for i, p in enumerate(PROMPTS)]
    done = generate(engine, *asked)
    for one in asked:
        assert done[one.id].tokens == plain_greedy(one.prompt, 16)


def test_an_off_request_runs_beside_an_on_request():
    engine = toy_engine("draft_target", 4)
    done = generate(engine, request("on"), request("off", speculate=False))
    assert done["off"].drafted == 0
    assert done["off"].steps == 11
    assert done["on"].drafted > 0
    assert done["on"].tokens == done["off"].tokens


def test_requests_beyond_the_slots_wait_and_are_served_in_order():
    engine = toy_engine("ngram", slots=2)
    first_tokens = []
    for name in "abcde":
        submit(engine, request(name, tokens=5))
    while engine.queue:
        for chunk in engine.advance().chunks:
            if chunk.request_id not in first_tokens:
                first_tokens.append(chunk.request_id)
        assert len(engine.running) <= 2
    assert first_tokens == list("abcde")


arrivals = st.lists(
    st.tuples(
        st.integers(0, 6),  # steps before it arrives
        st.integers(0, len(PROMPTS) - 1),
        st.integers(1, 12),  # output tokens
        st.booleans(),  # speculation
        st.none() | st.integers(1, 8),  # cancelled after so many steps
    ),
    min_size=1,
    max_size=7,
)


@settings(max_examples=30, deadline=None)
@given(arrivals, st.sampled_from(["ngram", "draft_target"]), st.integers(1, 6))
def test_joins_leaves_and_cancellations_never_change_a_result(plan, method, length):
    engine = toy_engine(method, length, slots=3, draft_seed=1)
    done, cancel_at, step = {}, {}, 0
    queue = sorted(enumerate(plan), key=lambda item: item[1][0])
    while queue or engine.queue:
        while queue and queue[0][1][0] <= step:
            index, (_, prompt, tokens, speculate, cancel_after) = queue.pop(0)
            name = str(index)
            submit(engine, request(name, PROMPTS[prompt], tokens, speculate=speculate))
            if cancel_after:
                cancel_at[name] = step + cancel_after
        for running in (*engine.running, *engine.queue.waiting):
            running.cancelled |= cancel_at.get(running.request.id, step + 1) <= step
        for chunk in engine.advance().chunks:
            if chunk.completion:
                done[chunk.request_id] = chunk.completion
        step += 1
    assert len(done) == len(plan)
    for index, (_, prompt, tokens, _, _) in enumerate(plan):
        got = done[str(index)]
        expected = plain_greedy(PROMPTS[prompt], tokens)
        assert got.tokens == expected[: len(got.tokens)]
        assert got.finish_reason == "cancelled" or len(got.tokens) == tokens


def test_a_cancelled_request_frees_its_slot_at_the_next_step():
    engine = toy_engine("ngram", slots=1)
    submit(engine, request("a", tokens=50))
    submit(engine, request("b", tokens=3))
    engine.advance()
    engine.running[0].cancelled = True
    chunks = engine.advance().chunks
    assert [(c.request_id, c.completion.finish_reason) for c in chunks] == [
        ("a", "cancelled")
    ]
    assert set(finish(engine)[0]) == {"b"}


def output_with(asked, method="draft_target", **options):
    return generate(toy_engine(method, 6, **options), asked)[asked.id]


def test_end_token_inside_an_accepted_block_ends_the_output_there():
    plain = plain_greedy((3, 9, 4), 20)
    end = plain[7]
    expected = plain[: plain.index(end) + 1]
    for method in ("none", "draft_target"):
        engine = toy_engine(method, 6)
        submit(engine, request(tokens=20, ignore_eos=False), frozenset({end}))
        done = finish(engine)[0]["r"]
        assert done.tokens == expected
        assert done.finish_reason == "stop"
        assert f"w{end}" not in done.text.split()


def test_stop_string_inside_an_accepted_block_cuts_text_and_tokens_exactly():
    words = output_with(request(tokens=20)).text.split()
    stop = f"{words[6]} {words[7]}"
    asked = request(tokens=20, stop=(stop,))
    on, off = output_with(asked), output_with(asked, "none")
    assert on.text == off.text == " ".join(words).partition(stop)[0]
    assert on.tokens == off.tokens
    assert on.finish_reason == "stop"


@pytest.mark.parametrize("method", ["none", "ngram", "draft_target"])
def test_sampled_output_does_not_depend_on_the_rest_of_the_batch(method):
    def asked(i):
        return request(str(i), PROMPTS[i % 4], 10, sampling=sampled(i))

    together = generate(
        toy_engine(method, 3, draft_seed=1), *(asked(i) for i in range(4))
    )
    for i in range(4):
        alone = generate(toy_engine(method, 3, slots=1, draft_seed=1), asked(i))
        assert alone[str(i)].tokens == together[str(i)].tokens


def test_greedy_and_sampled_requests_share_a_batch():
    engine = toy_engine("draft_target", 3, draft_seed=1)
    done = generate(
        engine, request("greedy"), request("sampled", sampling=sampled(5, top_k=4))
    )
    assert done["greedy"].tokens == plain_greedy((3, 9, 4), 12)
    assert len(done["sampled"].tokens) == 12


def test_records_say_where_the_time_went_and_what_was_emitted():
    engine = toy_engine("draft_target", 3)
    submit(engine, request("a", tokens=9))
    submit(engine, request("b", tokens=9))
    done, records = finish(engine)
    assert records[0].kind == "prefill"
    assert sum(r.emitted for r in records) == 18
    assert sum(r.drafted for r in records) == sum(c.drafted for c in done.values())
    assert sum(r.accepted for r in records) == sum(c.accepted for c in done.values())
    for record in records:
        assert 0 < record.forward_seconds <= record.seconds
        assert record.draft_forward_seconds <= record.draft_seconds
        assert record.draft_seconds + record.forward_seconds <= record.seconds


def test_a_step_that_fails_is_not_hidden_and_leaves_nothing_behind(monkeypatch):
    def broken(*_):
        raise RuntimeError("out of memory")

    engine = toy_engine("draft_target", draft_seed=1, slots=2)
    for name in "abc":
        submit(engine, request(name))
    engine.advance()
    engine.advance()
    with monkeypatch.context() as broken_step:
        broken_step.setattr(step_module, "_accept", broken)
        with pytest.raises(RuntimeError, match="out of memory"):
            engine.advance()
    assert not engine.queue
    done = generate(engine, request("a"), request("b", (5, 6)))
    assert done["a"].tokens == plain_greedy((3, 9, 4), 12)
    assert done["b"].tokens == plain_greedy((5, 6), 12)


def test_nothing_of_a_request_is_left_in_its_slot():
    """NaN in a stale entry would spoil later rows: a mask of weight 0 does not help."""
    engine = toy_engine("none", slots=2)
    generate(engine, request("a", tokens=20))
    for layer in engine._target._lm.layers:
        assert not layer.keys.any()
        assert not layer.values.any()


def test_logits_that_are_not_finite_end_the_run_with_a_reason(monkeypatch):
    engine = toy_engine("ngram")
    submit(engine, request())
    engine.advance()
    run = SlotModel.run

    def broken(*args, **kwargs):
        output = run(*args, **kwargs)
        return output._replace(logits=output.logits * float("nan"))

    monkeypatch.setattr(SlotModel, "run", broken)
    with pytest.raises(RunError, match="not finite"):
        engine.advance()


def test_idle_engine_has_nothing_to_do():
    engine = toy_engine()
    assert not engine.queue
    assert engine.advance().records == ()


def test_results_repeat_with_one_thread_or_two():
    asked = request(tokens=12, sampling=sampled(11, temperature=0.8, top_p=0.9))
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(output_with(asked, draft_seed=1).tokens)
    finally:
        torch.set_num_threads(before)
    assert results[0] == results[1]
