"""Which pool answers: by the request's own word, by what is honoured, by the rules."""

from __future__ import annotations

import asyncio

import pytest
from packaging.version import Version

from tests.serve.proxy.rig import FakeServer, events, front, run, until
from trtspec.serve.proxy.pool import OFF, ON
from trtspec.serve.proxy.rules import Rules

V1_0 = Version("1.0.0")


class Spaces:
    """Counts words as tokens."""

    def encode(self, text):
        return tuple(range(len(text.split())))


def two(**settings):
    """Two servers and a front, for ``async with``."""

    class Both:
        async def __aenter__(self):
            self.on, self.off = FakeServer(), FakeServer(average=1.0)
            self.stack = [self.on.running(), self.off.running()]
            for each in self.stack:
                await each.__aenter__()
            self.front = front({ON: self.on, OFF: self.off}, **settings)
            there = await self.front.__aenter__()
            return there, self.on, self.off

        async def __aexit__(self, *error):
            await self.front.__aexit__(*error)
            for each in reversed(self.stack):
                await each.__aexit__(*error)

    return Both()


def by(answer):
    return answer.headers["x-trtspec-pool"], answer.headers["x-trtspec-route"]


@run
async def test_request_says_itself_where_it_goes():
    async with two() as (there, on, off):
        assert by(await there.post()) == ("on", "default")
        without = await there.post(speculation={"enabled": False})
        assert by(without) == ("off", "request")
        assert without.json()["choices"][0]["speculation"] == {
            "method": "none",
            "enabled": False,
            "steps": 3,
            "drafted": 0,
            "accepted": 0,
            "acceptance_rate": None,
            "acceptance_length": 1.0,
            "lossy": "",
        }
        headers = {"x-trtspec-speculation": "off"}
        assert by(await there.post(headers=headers)) == ("off", "request")
        assert by(await there.post(model="tiny-off")) == ("off", "model")
        async with there.stream(speculation={"enabled": False}) as response:
            assert by(response) == ("off", "request")
            assert (await events(response))[-1] == "[DONE]"
        # each server is asked for its own model, and never sees our own field
        assert {body["model"] for _, body in on.asked} == {"tiny-on"}
        assert {body["model"] for _, body in off.asked} == {"tiny-off"}
        assert all("speculation" not in body for _, body in on.asked + off.asked)
        listed = (await there.client.get("/v1/models")).json()["data"]
        assert [card["id"] for card in listed] == ["tiny-on", "tiny-off"]
        one = (await there.client.get("/v1/models/tiny-off")).json()
        assert (one["trtspec"]["method"], one["trtspec"]["pool"]) == ("none", "off")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ({"speculation": {"enabled": "perhaps"}}, {}),
        ({"speculation": {"other": 1}}, {}),
        ({"speculation": []}, {}),
        ({"speculation": {"draft_length": 3}}, {}),
        ({}, {"x-trtspec-speculation": "perhaps"}),
        ({"speculation": {"enabled": True}}, {"x-trtspec-speculation": "perhaps"}),
        ({"speculation": {"enabled": True}}, {"x-trtspec-speculation": "off"}),
    ],
)
def test_what_cannot_be_meant_is_refused(body, headers):
    @run
    async def test():
        async with two() as (there, on, off):
            answer = await there.post(headers=headers, **body)
            assert answer.status_code == 400
            assert answer.json()["error"]["message"]
            assert on.asked == off.asked == []

    test()


@run
async def test_pool_that_is_not_there_is_said_to_be_missing():
    async with FakeServer().running() as server, front({ON: server}) as there:
        refused = await there.post(speculation={"enabled": False})
        assert (refused.status_code, refused.json()["error"]["code"]) == (
            400,
            "no_such_pool",
        )
        assert "--with-off" in refused.json()["error"]["message"]
        taken = await there.post(speculation={"enabled": True})
        assert by(taken) == ("on", "request")
    async with FakeServer().running() as server, front({OFF: server}) as there:
        plain = await there.post(model="tiny-off")
        assert by(plain) == ("off", "only")
        refused = await there.post(model="tiny-off", speculation={"enabled": True})
        assert refused.status_code == 400


@run
async def test_what_drafting_would_not_honour_goes_to_the_off_pool():
    eagle = {"method": "eagle3", "model": "x", "draft_length": 3}
    async with two() as (there, _on, _off):
        # both drop penalties there: nobody would honour them
        refused = await there.post(presence_penalty=0.5)
        assert refused.status_code == 400
        error = refused.json()["error"]
        assert (error["param"], error["code"]) == ("presence_penalty", "not_honoured")
        assert "drops it silently" in error["message"]
        warned = await there.post(logprobs=1)
        assert by(warned) == ("on", "default")
        assert "not established" in warned.headers["x-trtspec-warning"]
        assert "x-trtspec-warning" not in (await there.post()).headers
    async with front_of(eagle) as (there, _, _):
        assert by(await there.post(min_tokens=3)) == ("off", "unhonoured")
        insisting = await there.post(min_tokens=3, speculation={"enabled": True})
        assert insisting.status_code == 400
        assert "drops it silently" in insisting.json()["error"]["message"]


def front_of(speculation):
    """Two pools, the first with a method of its own."""
    made = two()
    enter = made.__aenter__

    async def entered():
        there, on, off = await enter()
        from dataclasses import replace

        screen = there.service.pools[ON].screen
        method = type(screen.recipe).model_validate(
            screen.recipe.model_dump(by_alias=True, mode="json")
            | {"speculation": speculation}
        )
        there.service.pools[ON].screen = replace(screen, recipe=method)
        return there, on, off

    class Changed:
        async def __aenter__(self):
            return await entered()

        async def __aexit__(self, *error):
            await made.__aexit__(*error)

    return Changed()


@run
async def test_what_would_be_lossy_goes_to_the_off_pool_or_nowhere():
    async with two(version=V1_0) as (there, _on, _off):
        assert by(await there.post(temperature=0.7)) == ("off", "unhonoured")
        assert by(await there.post()) == ("on", "default")
        insisting = await there.post(temperature=0.7, speculation={"enabled": True})
        assert insisting.status_code == 400
        assert "would be lossy" in insisting.json()["error"]["message"]
    async with FakeServer().running() as server:
        async with front({ON: server}, version=V1_0) as there:
            assert (await there.post(temperature=0.7)).status_code == 400
        allowed = {"method": "ngram", "draft_length": 4, "allow_lossy": True}
        async with front({ON: server}, version=V1_0, speculation=allowed) as there:
            answer = await there.post(temperature=0.7)
            lossy = answer.json()["choices"][0]["speculation"]["lossy"]
            assert "decodes greedily" in lossy


@run
async def test_rules_come_in_their_order():
    rules = Rules(
        workloads={"batch": "off", "chat": "on"}, off_above_prompt=3, off_above_load=2
    )
    async with two(rules=rules, codec=Spaces()) as (there, on, _off):
        assert by(await there.post(prompt="one two three")) == ("on", "default")
        assert by(await there.post(prompt="one two three four")) == ("off", "prompt")
        assert by(await there.post(prompt=[1, 2, 3, 4])) == ("off", "prompt")
        assert by(await there.post(prompt=["a", "b c d e"])) == ("off", "prompt")
        said = [{"role": "user", "content": "a b"}, {"role": "user", "content": "c d"}]
        chat = await there.post("/v1/chat/completions", messages=said)
        assert by(chat) == ("off", "prompt")
        batch, talk = ({"x-trtspec-workload": name} for name in ("batch", "chat"))
        assert by(await there.post(headers=batch)) == ("off", "workload")
        long = "one two three four"
        assert by(await there.post(prompt=long, headers=talk)) == ("on", "workload")
        wish = {"speculation": {"enabled": True}}
        assert by(await there.post(headers=batch, **wish)) == ("on", "request")
        unknown = {"x-trtspec-workload": "other"}
        assert by(await there.post(headers=unknown)) == ("on", "default")
        on.gate.clear()
        inside = [asyncio.create_task(there.post()) for _ in range(2)]
        await until(lambda: on.open == 2)
        assert by(await there.post()) == ("off", "load")
        on.gate.set()
        await asyncio.gather(*inside)
        assert by(await there.post()) == ("on", "default")


@run
async def test_each_pool_has_metrics_of_its_own_on_one_page():
    async with two() as (there, _on, _off):
        for _ in range(3):
            await there.post()
        await there.post(speculation={"enabled": False})
        name = "trtspec:request_success_total"
        assert await there.metric(name, model_name="tiny-on") == 3
        assert await there.metric(name, model_name="tiny-off") == 1
        page = (await there.client.get("/metrics")).text
        types = [line for line in page.splitlines() if line.startswith("# TYPE")]
        assert len(types) == len(set(types))
        from prometheus_client.parser import text_string_to_metric_families

        families = {f.name: f for f in text_string_to_metric_families(page)}
        models = {s.labels["model_name"] for s in families["trtspec:info"].samples}
        assert models == {"tiny-on", "tiny-off"}
