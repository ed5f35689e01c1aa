"""Arms have the artifact that they need; engines of one kind take turns."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from tests.bench.fakes import FakeRunner
from tests.tune.deployed.test_setting import settings
from tests.tune.deployed.test_timing import PROMPTS, methods
from trtspec.bench.driver import Call
from trtspec.bench.records import Load
from trtspec.run import SamplingParams
from trtspec.tune.deployed.arms import deployed_arms
from trtspec.tune.deployed.shop import Counting, Opened


class CountingRunner(FakeRunner):
    """Says what it is."""

    def conditions(self):
        return {"backend": "fake"}

    def close(self):
        self.closed = True


class Shop:
    """Knows how many are open at once."""

    def __init__(self):
        self.open_now, self.most, self.opened = 0, 0, []

    @contextmanager
    def open(self, recipe):
        self.open_now += 1
        self.most = max(self.most, self.open_now)
        drafts = recipe.speculation.method != "none"
        runner = CountingRunner(accepts=1 if drafts else 0)
        self.opened.append((recipe, runner))
        artifact = SimpleNamespace(
            recipe=recipe,
            name=recipe.name,
            fingerprint=f"{len(self.opened):064x}",
            manifest=SimpleNamespace(source={}),
        )
        try:
            yield Opened(artifact, runner)
        finally:
            self.open_now -= 1


def calls(arm, block=1):
    return [
        Call(
            f"{prompt.id}/{arm.name}/{block}",
            prompt,
            5,
            SamplingParams(),
            arm.speculate,
            arm.speculation,
        )
        for prompt in PROMPTS
    ]


def run_all(arms, rounds=2):
    for block in range(rounds):
        for arm in arms:
            done = arm.driver.run(calls(arm, block), Load(concurrency=1))
            assert [o.output_tokens for o in done.answered] == [5, 5, 5]


def opened(of, lengths, shop):
    named = {f"draft length {k}": m for k, m in methods(of, lengths).items()}
    return deployed_arms(of, named, shop, PROMPTS, control=True)


def test_on_pytorch_each_length_is_loaded_once_beside_the_others():
    shop = Shop()
    with opened(settings("pytorch"), (1, 6), shop) as arms:
        names = [arm.name for arm in arms]
        run_all(arms)
        assert shop.open_now == shop.most == len(shop.opened) == 3
    assert names == ["off", "off again", "draft length 1", "draft length 6"]
    assert [arm.role for arm in arms][:2] == ["baseline", "control"]
    assert shop.open_now == 0


def test_drafts_from_outside_share_one_engine():
    shop = Shop()
    with opened(settings("tensorrt"), (1, 6), shop) as arms:
        run_all(arms)
        assert len({id(arm.driver) for arm in arms}) == 1
    assert len(shop.opened) == 1
    assert [arm.speculation.draft_length for arm in arms[2:]] == [1, 6]


def trees(of):
    """Two trees of Medusa heads."""
    values = [{"tree": ((0,),)}, {"tree": ((0,), (1,))}]
    return {
        f"tree {n}": type(of.longest).model_validate(of.longest.model_dump() | v)
        for n, v in enumerate(values)
    }


def test_engines_that_always_draft_take_turns_and_are_warmed_up():
    of, shop, starts = settings("tensorrt", "medusa"), Shop(), []
    counting = Counting(shop, lambda: starts.append(1))
    with deployed_arms(of, trees(of), counting, PROMPTS, control=True) as arms:
        run_all(arms)
    assert shop.most == 1
    assert shop.open_now == 0
    assert len(starts) == len(shop.opened)
    # once to ask what each is; then three per round, off and its control sharing one
    assert len(starts) == 3 + 2 * 3
    for _, runner in shop.opened[3:]:
        warm = [r for r in runner.submitted if r.id.startswith("warm/")]
        rest = runner.submitted[len(warm) :]
        assert len(warm) == 2
        assert not any(r.id.startswith("warm/") for r in rest)
        assert len(rest) in (3, 6)


def test_what_is_loaded_for_each_block_says_so():
    of = settings("tensorrt", "medusa")
    with deployed_arms(of, trees(of), Shop(), PROMPTS, control=False) as arms:
        assert all(arm.info.engine["loaded"] == "for each block" for arm in arms)
        assert all(not arm.driver.caches_prompts for arm in arms)


@pytest.mark.parametrize("method", ["ngram", "medusa"])
def test_all_is_freed_when_the_bench_fails(method):
    of, shop = settings("tensorrt", method), Shop()
    named = trees(of) if method == "medusa" else {"on": of.longest}
    with (
        pytest.raises(RuntimeError, match="stopped"),
        deployed_arms(of, named, shop, PROMPTS, control=False),
    ):
        raise RuntimeError("stopped")
    assert shop.open_now == 0
