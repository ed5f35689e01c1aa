"""What the engine decodes by itself: one streaming request, ended where we say."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import (
    END,
    OTHER_END,
    ask,
    finish,
    greedy_tokens,
    sampled,
)
from tests.trtllm.engine.run.fakes import Script, target_token
from trtspec.errors import RunError
from trtspec.methods import Lookahead
from trtspec.run import generate

IN_ENGINE = ["medusa", "eagle", "redrafter", "lookahead"]


def ending_with(token, at):
    """A target that emits ``token`` behind ``at`` tokens."""
    return Script(lambda tokens: token if len(tokens) == at else target_token(tokens))


def sent(bindings):
    return bindings.executors["target"].requests


@pytest.mark.parametrize("method", ["none", *IN_ENGINE])
def test_a_request_is_sent_once_with_its_full_length(open_engine, bindings, method):
    done, records = finish(open_engine(method), ask(tokens=17))
    (request,) = sent(bindings)
    assert (request.streaming, request.max_tokens) == (True, 17)
    assert request.input_token_ids == [3, 9, 4]
    assert request.output_config.exclude_input_from_output
    assert done["r"].tokens == greedy_tokens(count=17)
    assert done["r"].finish_reason == "length"
    assert records == []


def test_tokens_stream_as_they_come(open_engine, bindings):
    bindings.scripts["target"] = Script(accepts=2)
    chunks = list(generate(open_engine("medusa"), [ask(tokens=10)]))
    assert [len(chunk.tokens) for chunk in chunks] == [1, 3, 3, 3]
    assert "".join(chunk.text for chunk in chunks) == chunks[-1].completion.text


def test_requests_wait_for_room_in_the_batch(open_engine, bindings):
    runner = open_engine("none")
    for i in range(4):
        runner.submit(ask(f"r{i}", (3 + i,), 5 + i))
    runner.advance()
    assert len(sent(bindings)) == 2
    done, _ = finish(runner)
    assert {name: len(c.tokens) for name, c in done.items()} == {
        "r0": 5,
        "r1": 6,
        "r2": 7,
        "r3": 8,
    }


@pytest.mark.parametrize("method", ["none", "medusa", "ngram", "draft_target"])
@pytest.mark.parametrize("excludes_end", [False, True])
@pytest.mark.parametrize("end", [END, OTHER_END])
def test_any_end_token_ends_the_output_and_belongs_to_it(
    open_engine, bindings, method, excludes_end, end
):
    for engine in ("target", "draft"):
        bindings.scripts[engine] = ending_with(end, 9)
        bindings.scripts[engine].excludes_end = excludes_end and end == END
    runner = open_engine(method, ends=(OTHER_END, END))
    done, _ = finish(runner, ask(tokens=20, ignore_eos=False))
    assert done["r"].tokens == [*greedy_tokens(count=6), end]
    assert done["r"].finish_reason == "stop"
    request = sent(bindings)[0]
    assert (request.end_id, request.stop_words) == (END, [[OTHER_END]])


@pytest.mark.parametrize("method", ["none", "ngram"])
def test_ignored_end_tokens_are_not_even_sent(open_engine, bindings, method):
    bindings.scripts["target"] = ending_with(END, 9)
    done, _ = finish(open_engine(method), ask(tokens=15))
    assert len(done["r"].tokens) == 15
    assert all(r.end_id is None and r.stop_words is None for r in sent(bindings))


@pytest.mark.parametrize("method", ["none", "medusa", "ngram"])
def test_a_stop_string_across_chunks_cuts_the_text(open_engine, bindings, method):
    expected = greedy_tokens(count=20)
    stop = f"w{expected[4]} w{expected[5]}"
    runner = open_engine(method)
    chunks = list(generate(runner, [ask(tokens=20, stop=(stop,))]))
    done = chunks[-1].completion
    assert done.finish_reason == "stop"
    assert done.tokens == expected[:6]
    assert stop not in done.text
    assert "".join(chunk.text for chunk in chunks) == done.text
    assert not runner.busy


def test_a_stop_string_ends_the_request_on_the_engine(open_engine, bindings):
    word = f"w{greedy_tokens(count=4)[3]}"
    done, _ = finish(open_engine("none"), ask(tokens=40, stop=(word,)))
    assert bindings.executors["target"].cancelled == [1]
    assert bindings.executors["target"].polls < 10
    assert done["r"].steps == len(done["r"].tokens) - 1


def test_an_output_that_the_engine_cuts_is_an_error(open_engine, bindings):
    bindings.scripts["target"] = Script(cut=5)
    runner = open_engine("none")
    with pytest.raises(RunError, match=r"request r: .*LENGTH.* after 5 of 12 tokens"):
        finish(runner, ask())
    assert not runner.busy


def test_greedy_is_asked_for_by_top_k(open_engine, bindings):
    finish(open_engine("none"), ask())
    assert sent(bindings)[0].sampling_config.arguments == {
        "beam_width": 1,
        "top_k": 1,
        "temperature": 1.0,
    }


def test_sampling_names_top_p_without_which_it_would_be_greedy(open_engine, bindings):
    runner = open_engine("none")
    finish(
        runner,
        ask("a", sampling=sampled(5)),
        ask("b", sampling=sampled(6, top_k=9, top_p=0.5)),
    )
    first, second = (request.sampling_config.arguments for request in sent(bindings))
    assert first == {"beam_width": 1, "temperature": 0.7, "top_p": 1.0, "seed": 5}
    assert second["top_k"] == 9
    assert second["top_p"] == 0.5


@pytest.mark.parametrize("method", ["medusa", "lookahead"])
def test_decoders_that_are_greedy_are_asked_greedily(open_engine, bindings, method):
    runner = open_engine(method, allow_lossy=True)
    done, _ = finish(runner, ask(sampling=sampled()))
    assert sent(bindings)[0].sampling_config.top_k == 1
    assert sent(bindings)[0].sampling_config.temperature == 1.0
    assert done["r"].lossy


def test_lookahead_takes_a_requests_own_sizes(open_engine, bindings):
    own = Lookahead(
        method="lookahead", window_size=2, ngram_size=3, verification_set_size=1
    )
    finish(open_engine("lookahead"), ask("a"), ask("b", speculation=own))
    first, second = sent(bindings)
    assert first.lookahead_config is None
    assert list(second.lookahead_config.arguments.values()) == [2, 3, 1]


@pytest.mark.parametrize("method", ["ngram", "draft_target"])
def test_the_off_arm_of_outside_drafts_is_plain_streaming(
    open_engine, bindings, method
):
    done, records = finish(open_engine(method), ask(tokens=20, speculate=False))
    (request,) = sent(bindings)
    assert (request.streaming, request.max_tokens) == (True, 20)
    assert request.external_draft_tokens_config is None
    assert (done["r"].steps, done["r"].drafted) == (19, 0)
    assert records == []


def test_the_off_arm_of_lookahead_looks_ahead_at_nothing(open_engine, bindings):
    done, _ = finish(open_engine("lookahead"), ask(tokens=9, speculate=False))
    sizes = sent(bindings)[0].lookahead_config.arguments
    assert list(sizes.values()) == [1, 1, 0]
    assert (done["r"].steps, done["r"].drafted, done["r"].accepted) == (8, 0, 0)


def test_both_arms_run_side_by_side(open_engine, bindings):
    requests = ask("on", tokens=20), ask("off", tokens=20, speculate=False)
    done, records = finish(open_engine("draft_target"), *requests)
    assert done["on"].tokens == done["off"].tokens == greedy_tokens(count=20)
    assert done["on"].drafted > 0 == done["off"].drafted
    assert {r.running for r in records} == {1}
