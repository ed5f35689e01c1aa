"""Drafts from outside: proposed for all, verified for all, counted by us."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import ask, finish, greedy_tokens
from tests.trtllm.engine.run.fakes import Script, draft_token
from trtspec.run import generate
from trtspec.trtllm.engine.run.rounds import common_prefix

REPEATING = (5, 6, 7, 8, 5, 6, 7, 8, 5, 6)


@pytest.fixture
def drafting(bindings):
    bindings.scripts["draft"] = Script(draft_token)
    return bindings


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_every_token_is_the_targets_own(open_engine, drafting, method, goes_on):
    drafting.scripts["target"] = Script(goes_on=goes_on)
    runner = open_engine(method)
    done, _ = finish(runner, ask("a", tokens=30), ask("b", REPEATING, 25))
    assert done["a"].tokens == greedy_tokens(count=30)
    assert done["b"].tokens == greedy_tokens(REPEATING, 25)


@pytest.mark.parametrize("goes_on", [False, True])
def test_counts_are_what_was_drafted_and_what_became_output(
    open_engine, drafting, goes_on
):
    drafting.scripts["target"] = Script(goes_on=goes_on)
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


def test_requests_join_and_leave_between_rounds(open_engine, drafting):
    runner = open_engine("draft_target")
    runner.submit(ask("a", tokens=20))
    runner.advance()
    runner.advance()
    runner.submit(ask("b", (4, 4, 8), 5))
    runner.submit(ask("c", (9, 9), 7))
    seen = []
    while runner.busy:
        result = runner.advance()
        seen += [r.running for r in result.records]
        assert all(r.running <= 2 for r in result.records)
    assert drafting.executors["target"].batches.count(2) > 0
    assert seen


def test_others_wait_until_there_is_room(open_engine, bindings):
    runner = open_engine("ngram")
    requests = [ask(f"r{i}", (3 + i, 9), 6 + i) for i in range(5)]
    done, records = finish(runner, *requests)
    for i, request in enumerate(requests):
        assert done[f"r{i}"].tokens == greedy_tokens(request.prompt, 6 + i)
    assert max(r.running for r in records) == 2


def test_draft_length_comes_from_the_map_at_the_running_requests(open_engine, bindings):
    runner = open_engine("draft_target", draft_length={1: 5, 2: 2})
    _, records = finish(runner, ask("a", tokens=40), ask("b", (4, 8), 7))
    lengths = {r.running: r.draft_length for r in records if r.kind == "decode"}
    assert lengths[2] <= 2
    assert max(r.draft_length for r in records if r.running == 1) == 5


def test_a_request_may_lower_the_draft_length(open_engine, drafting):
    runner = open_engine("draft_target")
    own = runner._recipe.speculation.model_copy(update={"draft_length": 2})
    finish(runner, ask(tokens=30, speculation=own))
    asked = {request.max_tokens for request in drafting.executors["draft"].requests}
    assert max(asked) == 2


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


def test_times_of_a_round_are_told_apart(open_engine, drafting):
    _, records = finish(open_engine("draft_target"), ask(tokens=30))
    prefill, *rounds = records
    assert prefill.draft_seconds == prefill.draft_forward_seconds == 0.0
    for record in rounds[:-1]:
        assert record.seconds >= record.draft_seconds + record.forward_seconds
        assert record.draft_seconds >= record.draft_forward_seconds > 0


def test_looking_up_is_no_forward(open_engine, bindings):
    _, records = finish(open_engine("ngram"), ask(prompt=REPEATING, tokens=20))
    assert all(r.draft_forward_seconds == 0.0 for r in records)
    assert any(r.draft_seconds > 0 for r in records)


def test_ids_that_the_draft_model_does_not_know_are_replaced(open_engine, bindings):
    runner = open_engine("draft_target", draft={"vocab_size": 20})
    finish(runner, ask(prompt=(3, 40, 9), tokens=8))
    for request in bindings.executors["draft"].requests:
        assert max(request.input_token_ids) < 20
    assert bindings.executors["draft"].requests[0].input_token_ids[:3] == [3, 0, 9]


def test_a_draft_ends_before_an_id_that_the_target_does_not_know(open_engine, bindings):
    bindings.scripts["draft"] = Script(lambda tokens: 99)
    runner = open_engine("draft_target", draft={"vocab_size": 128})
    done, _ = finish(runner, ask(tokens=9))
    assert done["r"].drafted == 0
    assert done["r"].tokens == greedy_tokens(count=9)


def test_common_prefix_ends_at_the_first_difference():
    assert common_prefix((1, 2, 3), (1, 2, 3, 4)) == 3
    assert common_prefix((1, 2, 3), (1, 9, 3, 4)) == 1
    assert common_prefix((1, 2, 3), (1, 2)) == 2
    assert common_prefix((), (1,)) == 0
