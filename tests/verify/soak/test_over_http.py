"""A server under load: right ones pass, and each way of not holding out is found."""

from __future__ import annotations

import contextlib

import pytest

from tests.bench.http import mock_server
from tests.bench.http.events import DONE, chat, usage
from tests.bench.http.mock_server import DROP, MockServer, Script, document, serving
from trtspec.bench.http.address import read_address
from trtspec.bench.http.probe import look_at
from trtspec.errors import RunError
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import HttpArm
from trtspec.verify.soak.over_http import ServerSoak
from trtspec.verify.soak.record import SoakResult

QUESTIONS = [Question(f"p{i}", f"p{i} go", 8) for i in range(4)]
GAP = 0.004


class Loaded(MockServer):
    """A server with gauges.

    :ivar stuck: how many requests count as running for ever.
    """

    stuck = 0

    def _page(self, path: str) -> Script:
        if path != "/metrics":
            return super()._page(path)
        running = self.in_flight + self.stuck
        text = f"trtspec:num_requests_running {running}\n"
        return Script((f"{text}trtspec:num_requests_waiting 0\n".encode(),))


@pytest.fixture(autouse=True)
def gauged(monkeypatch):
    monkeypatch.setattr(mock_server, "MockServer", Loaded)


class Engine:
    """Says so many tokens as it is asked for, some of them per step.

    :param per_step: tokens of a step, given how many requests it has had.
    :param gap: seconds per step.
    """

    def __init__(self, per_step=lambda _: 2, *, tells=True, own=False, gap=GAP) -> None:
        self.per_step, self.tells, self.own, self.gap = per_step, tells, own, gap
        self.asked = 0

    def __call__(self, seen) -> Script:
        self.asked += 1
        left, size, steps = seen.body["max_tokens"], self.per_step(self.asked), []
        total = left
        while left:
            now = min(size, left)
            left -= now
            choice = {"token_ids": list(range(now))} if self.tells else {}
            if self.own and not left:
                choice["speculation"] = {"steps": (total - 1) // size, "drafted": total}
            last = "length" if not left else None
            steps += [self.gap, chat("w " * now, last, choice=choice)]
        return Script((*steps, usage(total) + DONE))


@contextlib.contextmanager
def soaked(answer, seconds=0.4, **options):
    with serving(answer) as server:
        found = look_at(read_address(server.url), None, "chat")
        yield (
            server,
            ServerSoak(
                HttpArm("on", found),
                QUESTIONS,
                (1, 4),
                seconds,
                tokens=40,
                settle=0.5,
                patience=5.0,
                **options,
            ),
        )


def checks(result: SoakResult):
    return {
        check.name: check.verdict
        for check in sorted(result.checks, key=lambda c: c.verdict != "pass")
    }


def test_a_server_that_holds_out_passes():
    with soaked(Engine(), memory=lambda: 500.0) as (server, soak):
        result = soak.run()
    assert result.verdict == "pass", result.reasons
    assert set(checks(result)) == {
        *("ramp", "riders", "recovery", "requests", "slots", "memory")
    }
    assert result.over == "HTTP"
    assert [level.in_flight for level in result.levels] == [1, 4]
    assert result.levels[0].up.mean == pytest.approx(2.0)
    assert result.requests.submitted >= 48
    assert result.requests.finished + result.requests.cancelled == (
        result.requests.submitted
    )
    assert server.most_in_flight >= 4
    assert result.gauges[0] == "trtspec:num_requests_running"
    assert SoakResult.model_validate_json(result.model_dump_json()) == result


def test_requests_are_given_up_by_closing_the_connection():
    with soaked(Engine(gap=0.02), seconds=2.0) as (_, soak):
        result = soak.run()
    assert result.requests.cancelled > 0
    assert checks(result)["requests"] == "pass"


def test_acceptance_that_does_not_come_back_fails():
    """After 20 requests nothing is accepted any more."""
    with soaked(Engine(lambda asked: 3 if asked < 12 else 1)) as (_, soak):
        result = soak.run()
    assert result.verdict == "fail"
    assert checks(result)["recovery"] == "fail"


def test_nothing_accepted_cannot_tell():
    with soaked(Engine(lambda _: 1)) as (_, soak):
        result = soak.run()
    assert result.verdict == "cannot tell"
    assert "too little is accepted to say that it came back" in result.reasons[0]


def test_steps_that_are_told_per_answer_will_do():
    with soaked(Engine(tells=False, own=True)) as (_, soak):
        result = soak.run()
    assert checks(result)["ramp"] == checks(result)["recovery"] == "pass"
    assert result.levels[0].up.mean == pytest.approx(2.0, abs=0.2)
    riders = next(c for c in result.checks if c.name == "riders")
    assert riders.verdict == "cannot tell"
    assert "does not tell the tokens of each chunk" in riders.what


def test_a_server_that_drafts_nothing_has_nothing_to_lose():
    class Plain(Engine):
        def __call__(self, seen):
            script = super().__call__(seen)
            told = b'"drafted": ' + str(seen.body["max_tokens"]).encode()
            steps = [
                one.replace(told, b'"drafted": 0') if isinstance(one, bytes) else one
                for one in script.steps
            ]
            return Script(tuple(steps))

    with soaked(Plain(lambda _: 1, own=True)) as (_, soak):
        result = soak.run()
    ramp = next(check for check in result.checks if check.name == "ramp")
    assert (ramp.verdict, ramp.what) == ("pass", "1 in flight: nothing is drafted")


def test_requests_that_count_as_running_for_ever_fail():
    with soaked(Engine()) as (server, soak):
        server.stuck = 1
        result = soak.run()
    assert checks(result)["slots"] == "fail"
    assert any("1 requests still run or wait" in reason for reason in result.reasons)


def test_memory_that_grows_fails():
    readings = iter(range(1000, 100_000, 200))
    with soaked(Engine(), memory=lambda: float(next(readings))) as (_, soak):
        assert checks(soak.run())["memory"] == "fail"


def test_what_is_not_known_is_said_not_to_be_looked_at(monkeypatch):
    monkeypatch.setattr(mock_server, "MockServer", MockServer)
    with soaked(Engine()) as (_, soak):
        result = soak.run()
    assert result.verdict == "pass", result.reasons
    assert {"slots", "memory"}.isdisjoint(checks(result))
    assert [one.partition(":")[0] for one in result.not_looked_at] == [
        "slots",
        "memory",
    ]


def test_streams_that_break_off_fail():
    usual = Engine()

    def breaks(seen):
        script = usual(seen)
        if usual.asked > 40:
            return Script((*script.steps[:2], DROP))
        return script

    with soaked(breaks) as (_, soak), contextlib.suppress(RunError):
        result = soak.run()
        assert checks(result)["requests"] == "fail"


def test_refusals_in_the_mix_are_counted_and_no_fault():
    usual = Engine()

    def busy(seen):
        script = usual(seen)
        long = len(seen.body["messages"][-1]["content"]) > 20
        return document({"error": "too long"}, "400 Bad Request") if long else script

    with soaked(busy, seconds=1.0) as (_, soak):
        result = soak.run()
    assert result.requests.refused > 0
    assert checks(result)["requests"] == "pass"


def test_riders_are_as_long_as_the_server_lets_them():
    usual = Engine()
    lengths = []

    def short(seen):
        lengths.append(seen.body["max_tokens"])
        script = usual(seen)
        return document({}, "400 Bad Request") if lengths[-1] > 130 else script

    with soaked(short) as (_, soak):
        result = soak.run()
    assert max(n for n in lengths if n <= 130) == 120  # half of six times 40
    assert checks(result)["riders"] != "fail"


def test_a_server_that_refuses_the_ramp_is_an_error():
    usual = Engine()

    def refuses(seen):
        full = usual.asked > 8
        script = usual(seen)
        return document({}, "503 Service Unavailable") if full else script

    with (
        soaked(refuses) as (_, soak),
        pytest.raises(RunError, match=r"failed with \d+ in flight: status 503"),
    ):
        soak.run()
