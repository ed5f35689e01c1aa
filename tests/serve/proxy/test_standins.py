"""The front before the stand-in of trtllm-serve, release by release."""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest
from packaging.version import Version

from tests.serve.proxy.rig import events, front, run, text_of, until
from tests.standins.serving import processes
from trtspec.serve.proxy.pool import ON

NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}
DOCUMENT = {
    "speculative_config": NGRAM,
    "enable_iter_perf_stats": True,
    "return_perf_metrics": True,
}
RELEASES = ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"]


@contextlib.contextmanager
def served(folder, version):
    known = set(DOCUMENT) - ({"return_perf_metrics"} if version == "1.0.0" else set())
    document = {key: DOCUMENT[key] for key in known}
    server = processes.serve(folder, version, document)
    try:
        yield server
    finally:
        server.process.terminate()
        assert server.process.wait(120) == 0
        server.client.close()
        server.process.stdout.close()


def drafts(server):
    """What the server's own log says: drafts, draft tokens, accepted tokens."""
    log = server.standin.events("iteration")
    each = [r for iteration in log for r in iteration["requests"] if r["drafted"]]
    return (
        len(each),
        sum(request["drafted"] for request in each),
        sum(request["accepted"] for request in each),
    )


async def comes_to(there, name, value, seconds=60):
    end = time.monotonic() + seconds
    while (found := await there.metric(name)) < value and time.monotonic() < end:
        await asyncio.sleep(0.05)
    return found == value


@pytest.mark.parametrize("version", RELEASES)
def test_text_and_metrics_are_the_servers_own(tmp_path, version):
    @run
    async def test():
        with served(tmp_path, version) as server:
            server.url = str(server.client.base_url).rstrip("/")
            prompts = [[1, 2, 1, 2, 1], [5, 6, 5, 6], [9]]
            direct = [
                (await asyncio.to_thread(server.complete, prompt)).json()
                for prompt in prompts
            ]
            before = drafts(server)
            async with front({ON: server}, version=Version(version)) as there:
                settled = {"ignore_eos": True, "max_tokens": 20}
                for prompt, theirs in zip(prompts, direct, strict=True):
                    ours = await there.post(prompt=prompt, **settled)
                    assert ours.status_code == 200, ours.text
                    text = theirs["choices"][0]["text"]
                    assert ours.json()["choices"][0]["text"] == text
                    async with there.stream(prompt=prompt, **settled) as response:
                        found = await events(response)
                    assert found[-1] == "[DONE]"
                    assert text_of(found) == text
                grown = tuple(
                    now - then for now, then in zip(drafts(server), before, strict=True)
                )
                assert grown[1] > 0
                tokens = await there.metric("trtspec:generation_tokens_total")
                assert tokens == 6 * 20
                names = ("draft_tokens", "accepted_tokens")
                for name, count in zip(names, grown[1:], strict=True):
                    full = f"trtspec:spec_decode_num_{name}_total"
                    assert await comes_to(there, full, count)

    test()


def test_client_that_leaves_aborts_the_request_in_the_engine(tmp_path):
    @run
    async def test():
        with served(tmp_path, "1.2.1") as server:
            server.url = str(server.client.base_url).rstrip("/")
            server.standin.pace(0.1)
            async with front({ON: server}) as there:
                async with there.stream(max_tokens=60, ignore_eos=True) as response:
                    await anext(response.aiter_lines())
                await until(lambda: server.standin.events("disconnect"))
                server.standin.pace(0)
                assert (await there.post(max_tokens=3)).status_code == 200

    test()
