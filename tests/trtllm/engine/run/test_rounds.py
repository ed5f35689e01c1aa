"""Drafts from outside: proposed for all, verified for all, counted by us."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import ask, engine, finish, greedy_tokens
from tests.trtllm.engine.run.fakes import Script, draft_token
from trtspec.run import generate
from trtspec.trtllm.engine.run.rounds import common_prefix, draft_room

REPEATING = (5, 6, 7, 8, 5, 6, 7, 8, 5, 6)


def round_of(runner):
    """What one advance was, and how many tokens each request got."""
    result = runner.advance()
    (record,) = result.records
    return record.kind, {c.request_id: len(c.tokens) for c in result.chunks}


@pytest.fixture
def drafting(bindings):
    bindings.scripts["draft"] = Script(draft_token)
    return bindings


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_every_token_is_the_targets_own(open_engine, drafting, method):
    runner = open_engine(method)
    done, _ = finish(runner, ask("a", tokens=30), ask("b", REPEATING, 25))
    assert done["a"].tokens == greedy_tokens(count=30)
    assert done["b"].tokens == greedy_tokens(REPEATING, 25)


def test_counts_are_what_was_drafted_and_what_became_output(open_engine, drafting):
    runner = open_engine("draft_target")
    done, records = finish(runner, ask(tokens=30))
    sent = drafting.executors["target"].requests
    configs = [r.external_draft_tokens_config for r in sent]
    assert done["r"].drafted == sum(len(c.tokens) for c in configs if c)
    assert 0 < done["r"].accepted < done["r"].drafted
    # the first token comes from the prefill, every other from a step or a draft
    assert done["r"].steps + done["r"].accepted == 29
    assert sum(r.drafted for r in records) == done["r"].drafted
    assert sum(r.accepted for r in records) == done["r"].accepted
    assert sum(r.emitted for r in records) == 30


def test_a_perfect_draft_is_accepted_whole(open_engine, bindings):
    runner = open_engine("draft_target")
    done, records = finish(runner, ask(tokens=11))
    assert done["r"].acceptance_rate == 1.0
    assert done["r"].acceptance_length == 5.0
    assert [r.kind for r in records] == ["prefill", "decode", "decode"]


def test_a_verification_asks_for_the_draft_and_one_more_token(open_engine, drafting):
    finish(open_engine("draft_target"), ask(tokens=30))
    for request in drafting.executors["target"].requests:
        config = request.external_draft_tokens_config
        assert request.max_tokens == (len(config.tokens) if config else 0) + 1
        assert not request.streaming
        assert config is None or config.tokens
        assert config is None or config.acceptance_threshold is None


def test_all_requests_of_a_round_are_sent_together(open_engine, drafting):
    done, records = finish(
        open_engine("draft_target"), ask("a", tokens=9), ask("b", (4, 4, 8), 9)
    )
    assert set(done) == {"a", "b"}
    assert drafting.executors["target"].batches[:2] == [2, 2]
    assert drafting.executors["draft"].batches[0] == 2
    assert records[0].running == records[1].running == 2


def test_requests_join_and_leave_between_rounds(open_engine, bindings):
    """A perfect draft of 4: 5 tokens per round behind the first one."""
    runner = open_engine("draft_target")
    runner.submit(ask("a", tokens=16))
    rounds = [round_of(runner) for _ in range(2)]
    runner.submit(ask("b", (4, 4, 8), 6))
    runner.submit(ask("c", (9, 9), 1))
    while runner.busy:
        rounds.append(round_of(runner))
    assert rounds == [
        ("prefill", {"a": 1}),
        ("decode", {"a": 5}),
        ("prefill", {"b": 1}),  # c waits: there are two places
        ("decode", {"a": 5, "b": 5}),  # b leaves
        ("prefill", {"c": 1}),  # and leaves at once
        ("decode", {"a": 5}),
    ]


def test_others_wait_until_there_is_room(open_engine, bindings):
    runner = open_engine("ngram")
    requests = [ask(f"r{i}", (3 + i, 9), 6 + i) for i in range(5)]
    done, records = finish(runner, *requests)
    for i, request in enumerate(requests):
        assert done[f"r{i}"].tokens == greedy_tokens(request.prompt, 6 + i)
    assert max(r.running for r in records) == 2


def test_draft_length_comes_from_the_map_at_the_running_requests(open_engine, bindings):
    runner = open_engine("draft_target", draft_length={1: 5, 2: 2})
    _, records = finish(runner, ask("a", tokens=40), ask("b", (4, 8), 8))
    rounds = [(r.running, r.draft_length, r.drafted) for r in records[1:]]
    # together 3 tokens per round, but for b's last one; then 6 for a alone
    assert rounds == [(2, 2, 4), (2, 2, 4), (2, 2, 2), *[(1, 5, 5)] * 5]


@pytest.mark.parametrize("length", [2, 6])
def test_a_request_has_its_own_draft_length_up_to_the_capacity(
    open_engine, bindings, length
):
    """The recipe's is 4, and the engine was built for 6."""
    runner = open_engine("draft_target")
    own = runner._recipe.speculation.model_copy(update={"draft_length": length})
    done, records = finish(
        runner, ask("own", tokens=15, speculation=own), ask("usual", (4, 8), 15)
    )
    asked = [request.max_tokens for request in bindings.executors["draft"].requests]
    assert asked[:2] == [length, 4]
    assert records[1].drafted == length + 4
    assert done["own"].tokens == greedy_tokens(count=15)


def test_a_request_has_its_own_longest_ngram(open_engine, bindings):
    """5 came behind 2 8, the recipe's two tokens; behind 8 alone it was 7 last."""
    prompt = (2, 8, 5, 3, 8, 7, 2)
    bindings.scripts["target"] = Script(lambda text: 8 if len(text) == 7 else 40)
    runner = open_engine("ngram")
    own = runner._recipe.speculation.model_copy(update={"max_matching_ngram": 1})
    finish(runner, ask("usual", prompt, 6), ask("own", prompt, 6, speculation=own))
    configs = [
        request.external_draft_tokens_config
        for request in bindings.executors["target"].requests
    ]
    drafts = [config.tokens[0] for config in configs if config]
    assert drafts[:2] == [5, 7]


def test_nothing_is_drafted_for_the_last_token(open_engine, bindings):
    runner = open_engine("draft_target")
    done, records = finish(runner, ask(tokens=2))
    assert (done["r"].drafted, done["r"].steps) == (0, 1)
    assert not bindings.executors["draft"].requests
    assert records[-1].draft_seconds == 0.0


def test_without_a_match_the_request_is_plain(open_engine, bindings):
    bindings.scripts["target"] = Script(lambda tokens: 3 + len(tokens) % 40)
    done, _ = finish(open_engine("ngram"), ask(prompt=(45, 46, 47), tokens=6))
    requests = bindings.executors["target"].requests
    assert [r.external_draft_tokens_config for r in requests] == [None] * 6
    assert (done["r"].drafted, done["r"].steps) == (0, 5)


def test_drafts_are_cut_to_what_the_engine_takes(open_engine, bindings):
    runner = open_engine("draft_target", target={"max_num_tokens": 60})
    finish(runner, ask(prompt=range(3, 23), tokens=40))
    for request in bindings.executors["target"].requests:
        config = request.external_draft_tokens_config
        draft = len(config.tokens) if config else 0
        assert len(request.input_token_ids) + draft <= 60
        assert len(request.input_token_ids) + 2 * draft + 1 <= 66


def test_chunks_come_round_by_round(open_engine, bindings):
    chunks = list(generate(open_engine("draft_target"), [ask(tokens=11)]))
    assert [len(c.tokens) for c in chunks] == [1, 5, 5]
    assert "".join(c.text for c in chunks) == chunks[-1].completion.text


def test_times_of_a_round_are_told_apart(open_engine, bindings, clock):
    """A poll of the draft engine takes 2 s, one of the target engine 5 s."""
    bindings.scripts["draft"] = Script(poll=lambda: clock.pass_by(2.0))
    bindings.scripts["target"] = Script(poll=lambda: clock.pass_by(5.0))
    done, records = finish(open_engine("draft_target"), ask(tokens=11))
    times = [
        (r.seconds, r.draft_seconds, r.draft_forward_seconds, r.forward_seconds)
        for r in records
    ]
    assert times == [(5.0, 0.0, 0.0, 5.0), (7.0, 2.0, 2.0, 5.0), (7.0, 2.0, 2.0, 5.0)]
    assert (done["r"].ttft, done["r"].e2e) == (5.0, 19.0)


def test_both_arms_go_by_the_time_of_the_poll(open_engine, bindings, clock):
    """The first poll brings tokens of both; the stream is only asked after it."""
    bindings.scripts["target"] = Script(poll=lambda: clock.pass_by(5.0))
    requests = ask("on", tokens=3), ask("off", tokens=3, speculate=False)
    done, _ = finish(open_engine("ngram"), *requests)
    assert done["on"].ttft == done["off"].ttft == 5.0


def test_looking_up_is_no_forward(open_engine, bindings):
    _, records = finish(open_engine("ngram"), ask(prompt=REPEATING, tokens=20))
    assert all(r.draft_forward_seconds == 0.0 for r in records)
    assert any(r.draft_seconds > 0 for r in records)


def test_common_prefix_ends_at_the_first_difference():
    assert common_prefix((1, 2, 3), (1, 2, 3, 4)) == 3
    assert common_prefix((1, 2, 3), (1, 9, 3, 4)) == 1
    assert common_prefix((1, 2, 3), (1, 2)) == 2
    assert common_prefix((), (1,)) == 0


@pytest.mark.parametrize(
    ("tokens", "room"), [(10, 6), (54, 5), (59, 1), (60, 0), (65, 0)]
)
def test_a_draft_fits_behind_the_input_and_into_the_sequence(tokens, room):
    assert draft_room(engine("ngram"), tokens) == room


def test_a_draft_ends_with_the_input():
    assert draft_room(engine("ngram", max_num_tokens=50), 48) == 2
