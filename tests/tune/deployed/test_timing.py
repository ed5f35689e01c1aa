"""Steps are timed in blocks; each artifact is loaded once, one at a time."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.bench.fakes import FakeRunner
from tests.tune.deployed.test_setting import settings
from trtspec.bench.driver import BenchPrompt
from trtspec.errors import RunError, UsageError
from trtspec.run import SamplingParams
from trtspec.tune.bill import Meter
from trtspec.tune.deployed.shop import Opened
from trtspec.tune.deployed.timing import Timing

WORDS = ("hi", "hello", "good day")
PROMPTS = [
    BenchPrompt(f"p{i}", "", ({"role": "user", "content": w},), (len(w),))
    for i, w in enumerate(WORDS)
]


class FakeShop:
    """Opens runners whose steps take as long as their recipe says."""

    def __init__(self, **options):
        self.options = options
        self.opened = []
        self.open_now = 0
        self.runners = []

    @contextmanager
    def open(self, recipe):
        assert self.open_now == 0, "one artifact at a time"
        self.open_now += 1
        drafts = getattr(recipe.speculation, "draft_length", 0)
        plain = recipe.speculation.method == "none"
        runner = FakeRunner(
            off_step=1.0,
            on_step=1.0 if plain else 1.0 + 0.1 * drafts,
            accepts=0 if plain else 1,
            **self.options,
        )
        self.opened.append(recipe)
        self.runners.append(runner)
        try:
            yield Opened(None, runner)
        finally:
            self.open_now -= 1

    def require_possible(self, recipe):
        """All is."""


def timing(**options) -> Timing:
    values = {"batches": (1, 3), "rounds": 2, "tokens": 9} | options
    return Timing(PROMPTS, sampling=SamplingParams(), meter=Meter("costs"), **values)


def methods(of, lengths):
    return {
        k: type(of.longest).model_validate(
            of.longest.model_dump() | {"draft_length": k}
        )
        for k in lengths
    }


def test_every_length_is_timed_at_every_batch_size():
    of, shop = settings("pytorch"), FakeShop()
    found = timing().run(of, methods(of, (1, 6)), shop)
    assert set(found.seconds) == {(b, k) for b in (1, 3) for k in (0, 1, 6)}
    assert all(len(seconds) == 2 for seconds in found.seconds.values())
    for (_, length), seconds in found.seconds.items():
        assert seconds == pytest.approx([1.0 + 0.1 * length] * 2)
    assert len(shop.opened) == 3
    assert len(found.reading) == 4


def test_one_artifact_serves_all_lengths_where_it_can():
    of, shop = settings("tensorrt"), FakeShop()
    timed = timing().run(of, methods(of, range(1, 7)), shop)
    assert len(shop.opened) == 1
    assert {k for _, k in timed.seconds} == set(range(7))
    asked = {r.speculation.draft_length for r in shop.runners[0].submitted
             if r.speculation}  # fmt: skip
    assert asked == {1, 2, 3, 4, 5, 6}
    plain = [r for r in shop.runners[0].submitted if not r.speculate]
    assert all(r.speculation is None for r in plain)
    assert plain


def test_a_block_keeps_its_batch_full_and_its_answers_alike():
    of, shop = settings("pytorch"), FakeShop()
    timing(batches=(3,)).run(of, methods(of, (2,)), shop)
    for runner in shop.runners:
        assert max(runner.in_flight_seen) == 3
        assert {r.max_new_tokens for r in runner.submitted} == {9}
        assert all(r.ignore_eos for r in runner.submitted)


def test_answers_fit_behind_the_prompts():
    of, shop = settings("pytorch"), FakeShop(max_total_tokens=12)
    timing(tokens=48).run(of, methods(of, (2,)), shop)
    for runner in shop.runners:
        for request in runner.submitted:
            assert len(request.prompt) + request.max_new_tokens <= 12


def test_the_workload_is_decoded_with_the_longest_draft_if_it_is_asked_for():
    of, shop = settings("pytorch"), FakeShop()
    found = timing().run(of, methods(of, (1, 6)), shop, answers=7)
    assert [o.request_id for o in found.workload.answered] == ["p0", "p1", "p2"]
    assert all(o.output_tokens == 7 for o in found.workload.answered)
    named = [r for r in shop.runners[-1].submitted if r.id.startswith("p")]
    assert len(named) == 3
    assert not any(r.ignore_eos for r in named)
    assert timing().run(of, methods(of, (1, 6)), FakeShop()).workload is None


def test_what_it_takes_is_metered():
    of = settings("pytorch")
    run = timing()
    run.run(of, methods(of, (2,)), FakeShop())
    assert run.meter.item.engine_starts == 2
    assert run.meter.item.steps > 0
    assert run.meter.item.seconds >= run.meter.item.model_seconds > 0


def test_another_tokenizer_is_refused():
    of = settings("pytorch")
    odd = [BenchPrompt("p", "", ({"role": "user", "content": "hi"},), (7, 7))]
    run = Timing(odd, (1,), SamplingParams(), Meter("costs"))
    with pytest.raises(UsageError, match="other token ids"):
        run.run(of, methods(of, (2,)), FakeShop())


def test_a_request_that_fails_ends_it():
    of = settings("pytorch")

    def fail(runner):
        raise RuntimeError("out of memory")

    with pytest.raises(RunError, match="out of memory"):
        timing().run(of, methods(of, (2,)), FakeShop(before_advance=fail))


def test_a_backend_that_tells_no_steps_cannot_be_timed(monkeypatch):
    of = settings("pytorch")
    from trtspec.tune.deployed import timing as module

    monkeypatch.setattr(module, "tells_steps", lambda outcome: False)
    with pytest.raises(UsageError, match="--price-for"):
        timing().run(of, methods(of, (2,)), FakeShop())
