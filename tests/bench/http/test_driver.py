"""A real server, scripted: what the driver measures is what the server did.

Client and server have one clock. So a chunk's time lies after its sending, always; how
soon after is for scripts/bench_harness.py to say.
"""

from __future__ import annotations

import json
import socket
import time

import pytest

from tests.bench.http.events import DONE, chat, prompt, role, usage
from tests.bench.http.mock_server import (
    DROP,
    LAST_CHUNK,
    Script,
    document,
    serving,
    streamed,
)
from trtspec.bench.arrivals import due_times
from trtspec.bench.driver import Call
from trtspec.bench.http.address import API_KEY, Address, read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import Server, look_at
from trtspec.bench.http.transport import proxy_for
from trtspec.bench.outcome import Failed, Outcome
from trtspec.bench.records import Load
from trtspec.run import SamplingParams

ONE = Load(concurrency=1)


def calls(count=1, **more):
    return [
        Call(f"r{i}", prompt(f"r{i}", f"r{i} go"), 64, SamplingParams(), **more)
        for i in range(count)
    ]


def driver(mock, api="chat", **more):
    return OverHttp(Server(read_address(mock.url, {}), "mock-model", api), **more)


def only(script, load=ONE, **more):
    with serving(script) as mock:
        result = driver(mock, **more).run(calls(), load)
    (outcome,) = result.outcomes
    return outcome


def failure(script, **more):
    outcome = only(script, **more)
    assert isinstance(outcome, Failed)
    return outcome.what


def test_every_chunk_has_a_time_after_it_was_sent():
    with serving(streamed((0.02, 0.01, 0.03), tokens=5)) as mock:
        result = driver(mock).run(calls(3), ONE)
    assert not result.failed
    for outcome, seen in zip(result.answered, mock.seen, strict=True):
        first, *_, last = seen.sends[1:-1]  # behind the role, before the usage
        # on a busy machine two may arrive together, but none before it was sent
        assert 1 <= len(outcome.chunks) <= 3
        assert first <= outcome.chunks[0][0]
        assert last <= outcome.chunks[-1][0]
        assert outcome.sent_at <= seen.received
        assert outcome.due_at == outcome.sent_at
        assert outcome.output_tokens == 5
        assert outcome.text == "w0 w1 w2 "
        assert outcome.ttft >= 0.02
    first, last = result.answered[0], result.answered[-1]
    assert result.started_at <= first.sent_at
    assert result.ended_at == last.chunks[-1][0]
    assert result.records is None


def test_a_late_first_token_and_a_stall_are_seen():
    outcome = only(streamed((0.15, 0.3)))
    assert outcome.ttft >= 0.15
    assert outcome.e2e >= 0.45


def test_slow_headers_are_part_of_the_first_token():
    script = streamed()
    slow = Script(script.steps, before=0.1)
    assert only(slow).ttft >= 0.1


def test_outcomes_come_in_the_order_of_the_requests():
    def answer(seen):
        return streamed((0.1,) if seen.name == "r0" else (0.0,), tokens=1)

    with serving(answer) as mock:
        result = driver(mock).run(calls(4), Load(concurrency=4))
    assert [o.request_id for o in result.outcomes] == ["r0", "r1", "r2", "r3"]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_closed_loop_keeps_its_concurrency(concurrency):
    with serving(streamed((0.1, 0.0))) as mock:
        driver(mock).run(calls(6), Load(concurrency=concurrency))
    assert mock.most_in_flight == concurrency
    assert len(mock.seen) == 6


def test_connections_are_used_again():
    ports = set()
    with serving() as mock:
        listen = mock._one

        async def noting(reader, writer):
            ports.add(writer.get_extra_info("peername"))
            return await listen(reader, writer)

        mock._one = noting
        driver(mock).run(calls(6), ONE)
    assert len(ports) == 1


def test_an_open_loop_sends_at_its_times_and_tells_how_late():
    load = Load(arrivals="poisson", rate=100)
    with serving(streamed((0.05, 0.0))) as mock:
        result = driver(mock).run(calls(5), load, seed=3)
    due = [o.due_at - result.started_at for o in result.answered]
    assert due == pytest.approx(due_times(load, 5, 3))
    for outcome in result.answered:
        assert outcome.sent_at >= outcome.due_at
        assert outcome.ttft == outcome.chunks[0][0] - outcome.due_at
    assert len(result.answered) == 5


def test_on_answer_is_told_of_every_request_even_a_failed_one():
    told = []
    with serving(document({"error": "no"}, "500 Oops")) as mock:
        driver(mock).run(calls(3), ONE, on_answer=lambda: told.append(1))
    assert len(told) == 3


def test_completions_go_to_their_own_path():
    with serving() as mock:
        result = driver(mock, "completions").run(calls(), ONE)
    assert mock.seen[0].path == "/v1/completions"
    assert mock.seen[0].body["prompt"] == "r0 go"
    assert not result.failed


def test_a_character_split_between_two_packets():
    stream = role() + chat("漢字", "stop") + usage(2) + DONE
    cut = stream.index("漢".encode()) + 2
    outcome = only(Script((stream[:cut], 0.05, stream[cut:])))
    assert outcome.text == "漢字"


def test_events_in_one_packet_are_one_chunk_of_which_nothing_tells_a_tpot():
    stream = chat("a") + chat("b") + chat("c", "stop") + usage(3) + DONE
    outcome = only(Script((stream,)))
    assert len(outcome.chunks) == 1
    assert outcome.tpot is None


def test_a_failed_request_does_not_stop_the_others():
    def answer(seen):
        return (
            document({"error": {"message": "too long"}}, "400 Bad Request")
            if seen.name == "r1"
            else streamed()
        )

    with serving(answer) as mock:
        result = driver(mock).run(calls(4), Load(concurrency=2))
    (failed,) = result.failed
    assert failed.request_id == "r1"
    assert "status 400 Bad Request: too long" in failed.what
    assert len(result.answered) == 3


@pytest.mark.parametrize("status", ["401 Unauthorized", "429 Too Many", "503 Busy"])
def test_http_errors_fail_with_their_status(status):
    assert f"status {status}" in failure(document({}, status))


def test_a_redirect_is_not_followed():
    assert "status 307" in failure(Script(status="307 Temporary Redirect"))


def test_a_connection_dropped_in_the_middle():
    what = failure(Script((role(), chat("a") + chat("b"), 0.05, DROP)))
    assert what == "broke off after 1 chunk: the server closed the connection"


def test_a_connection_dropped_before_the_first_token():
    assert "0 chunks" in failure(Script((role(), 0.05, DROP)))


def test_a_connection_dropped_after_done_does_no_harm():
    script = Script((chat("a", "stop"), usage(1) + DONE, 0.05, DROP))
    assert isinstance(only(script), Outcome)


def test_a_stream_without_done_is_whole_if_http_says_so():
    assert isinstance(only(Script((chat("a", "stop"), usage(1)))), Outcome)


def test_a_missing_usage_fails():
    assert "include_usage" in failure(Script((chat("a", "stop"), DONE)))


def test_a_server_that_does_not_stream_fails():
    answer = {"choices": [{"message": {"content": "a"}}], "usage": {}}
    assert "stream: true" in failure(document(answer))


def test_what_is_no_event_stream_fails():
    assert "no JSON" in failure(Script((b"data: oops\n\n",)))


def test_silence_before_the_answer_is_given_up():
    script = Script(streamed().steps, before=5.0)
    assert "nothing for 0.2 s" in failure(script, silence=0.2)


def test_silence_in_the_middle_is_given_up():
    what = failure(Script((role(), chat("a"), 20.0, DONE)), silence=1.0)
    assert what == "broke off after 1 chunk: the server sent nothing for 1 s"


def test_a_server_that_is_gone_fails_every_request():
    with serving() as mock:
        gone = driver(mock)
    result = gone.run(calls(2), ONE)
    assert [f.what for f in result.failed] == [
        "no connection to the server: Connection refused"
    ] * 2
    assert result.wall_seconds > 0


def test_something_that_is_no_http_server():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        talk = OverHttp(
            Server(Address(f"http://127.0.0.1:{port}"), "m", "chat"), silence=0.2
        )
        (failed,) = talk.run(calls(), ONE).failed
    assert "nothing for 0.2 s" in failed.what


def test_the_key_reaches_the_server_and_no_record(monkeypatch):
    monkeypatch.setenv(API_KEY, "sk-secret")
    with serving() as mock:
        address = read_address(mock.url.replace("//", "//user:pass@", 1), {})
        for server in (address, read_address(mock.url, {API_KEY: "sk-secret"})):
            found = look_at(server, None, "chat")
            talk = OverHttp(found)
            result = talk.run(calls(), ONE)
            shown = json.dumps(talk.conditions()) + repr(found) + repr(result)
            assert "secret" not in shown
            assert "pass" not in shown
    basic, bearer = (seen.headers["authorization"] for seen in mock.seen)
    assert basic.startswith("Basic ")
    assert bearer == "Bearer sk-secret"


def test_conditions_say_what_decides_the_timings():
    with serving() as mock:
        talk = OverHttp(look_at(read_address(mock.url, {}), None, "chat"))
        told = talk.conditions()
    assert told["url"] == mock.url
    assert told["api"] == "chat"
    assert told["model"] == "mock-model"
    assert told["owned_by"] == "tests"
    assert told["max_model_len"] == 4096
    assert told["version"] == "1.2.3"
    assert told["server"] == "mock"
    assert told["proxy"] is False
    assert "aiohttp" in str(told["client"])
    assert talk.caches_prompts


def test_no_proxy_leads_to_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert proxy_for(Address("http://localhost:8000")) is None
    assert proxy_for(Address("http://inside.example")) is None
    assert proxy_for(Address("http://outside.example")) == "http://proxy:3128"
    with serving() as mock:
        assert not driver(mock).run(calls(), ONE).failed


def test_an_interrupt_ends_the_pass():
    def interrupt():
        raise KeyboardInterrupt

    with serving(streamed((0.0,), tokens=1)) as mock, pytest.raises(KeyboardInterrupt):
        driver(mock).run(calls(3), ONE, on_answer=interrupt)


def test_garbage_is_collected_again_afterwards():
    import gc

    assert gc.isenabled()
    only(streamed())
    assert gc.isenabled()


def test_an_answer_whose_end_http_does_not_tell():
    """Without the last chunk of HTTP the connection is what ends it."""
    script = Script((chat("a", "stop"), usage(1), DROP), ends=False)
    assert isinstance(only(script), Outcome)
    assert LAST_CHUNK == b"0\r\n\r\n"


def test_time_is_that_of_the_clock_it_was_given():
    start = time.perf_counter()
    with serving() as mock:
        shifted = driver(mock, clock=lambda: time.perf_counter() - start + 1000)
        (outcome,) = shifted.run(calls(), ONE).outcomes
    assert 1000 <= outcome.sent_at <= outcome.chunks[0][0] < 1100


COMMENTS = (b": keep-alive\n\n", 0.05) * 40


def test_comments_that_keep_a_connection_open_are_no_answer():
    """Else a dead server behind a proxy that sends them would never be given up."""
    what = failure(Script((role(), *COMMENTS, chat("late"))), silence=0.4)
    assert "sent only comments for 0.4 s" in what


def test_comments_before_an_answer_that_comes_do_no_harm():
    script = streamed()
    assert only(Script((*COMMENTS[:10], *script.steps)), silence=0.4).text == "w0 w1 "


def test_an_answer_without_an_end_is_given_up(monkeypatch):
    monkeypatch.setattr("trtspec.bench.http.driver._BYTES", 10_000)
    monkeypatch.setattr("trtspec.bench.http.driver._BYTES_PER_TOKEN", 10)
    script = Script((role(), *[chat("x" * 1000)] * 100, 30.0, chat("y", "stop")))
    began = time.perf_counter()
    assert "does not end" in failure(script)
    assert time.perf_counter() - began < 25


def test_a_server_that_fell_silent_is_not_waited_for_by_every_request():
    with serving(Script((role(), 30.0, chat("late", "stop")))) as mock:
        result = driver(mock, silence=0.3).run(calls(5), ONE)
    whats = [failed.what for failed in result.failed]
    assert len(whats) == 5
    assert "sent nothing for 0.3 s" in whats[0]
    assert {"fallen silent" in what for what in whats[1:]} == {True}
    assert len(mock.seen) == 1


@pytest.mark.parametrize(
    ("url", "environ", "secret"),
    [
        ("http://{}", {API_KEY: "sk-secret-123"}, "sk-secret-123"),
        ("http://me:pass-word@{}", {}, "pass-word"),
    ],
)
def test_a_key_that_a_server_repeats_is_not_kept(url, environ, secret):
    def answer(seen):
        told = f"no right: {seen.headers['authorization']} {secret}"
        return document({"error": {"message": told}}, "403 Forbidden")

    with serving(answer) as mock:
        address = read_address(url.format(mock.url.removeprefix("http://")), environ)
        server = Server(address, "mock-model", "chat")
        (failed,) = OverHttp(server).run(calls(), ONE).failed
    assert failed.what.count("***") == 2
    assert secret not in failed.what
    assert address.authorization.split()[1] not in failed.what


def test_a_kept_connection_that_the_server_has_closed_costs_no_request():
    """llama.cpp's server closes them after a stream; it has read nothing then."""
    with serving(streamed()) as mock:
        mock.hangs_up = True
        result = driver(mock).run(calls(4), ONE)
        assert len(mock.seen) == 4
    assert all(isinstance(outcome, Outcome) for outcome in result.outcomes)


def test_a_new_connection_that_is_dropped_is_a_failure_at_once():
    with serving(Script((), before=0.0, ends=False)) as mock:
        pass
    result = driver(mock).run(calls(1), ONE)
    assert all(isinstance(outcome, Failed) for outcome in result.outcomes)


def test_one_server_of_ours_is_both_arms():
    """Its requests say whether they draft, and what drafts though it must not fails."""
    figures = {"steps": 1, "drafted": 3, "accepted": 1}

    def answer(seen):
        choice = {"speculation": figures}
        return Script((chat("a b", "length", choice=choice), usage(2) + DONE))

    told = {"backend": "reference", "method": "ngram"}
    with serving(answer) as mock:
        server = Server(read_address(mock.url, {}), "mock-model", "chat", own=told)
        drafting = OverHttp(server).run(calls(), ONE)
        plain = OverHttp(server).run(calls(speculate=False), ONE)
    assert [seen.body.get("speculation") for seen in mock.seen] == [
        None,
        {"enabled": False},
    ]
    assert drafting.answered[0].drafted == 3
    assert "although this server is the off arm" in plain.failed[0].what
