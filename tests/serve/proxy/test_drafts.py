"""Whether a server's counts of drafts reach the metrics once, and by one reader."""

from __future__ import annotations

import asyncio
import json

from packaging.version import Version

from tests.serve.proxy.rig import FakeServer, front, run, until
from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.serve.proxy.drafts import NOTHING, PAGE, RECORDS, DraftReader
from trtspec.serve.proxy.pool import ON

V1_2, MAIN = Version("1.2.1"), Version("1.4.0rc4")
DRAFTED = "trtspec:spec_decode_num_draft_tokens_total"


def record(number, drafted=4, accepted=3, requests=1):
    stats = {
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": requests,
    }
    return {"iter": number, "specDecodingStats": stats}


def page(drafted, accepted, by_position=()):
    lines = [
        f'trtllm_spec_decode_num_draft_tokens_total{{a="b"}} {drafted}',
        f'trtllm_spec_decode_num_accepted_tokens_total{{a="b"}} {accepted}',
    ]
    for place, (offered, taken) in enumerate(by_position):
        label = f'{{token_position="{place}"}}'
        lines += [
            f"trtllm_spec_decode_drafted_tokens_total{label} {offered}",
            f"trtllm_spec_decode_accepted_tokens_total{label} {taken}",
        ]
    return "\n".join(lines) + "\n"


class Answers:
    """What a server says at its two paths; each is asked for by ``get``."""

    def __init__(self, records=(), text=None):
        self.records, self.text, self.asked = list(records), text, []

    async def get(self, path):
        self.asked.append(path)
        if path == PAGE:
            return (404, b"") if self.text is None else (200, self.text.encode())
        found, self.records = self.records, []
        return 200, json.dumps(found).encode()


@run
async def test_records_are_added_up_and_those_before_the_first_request_left_out():
    said = Answers([record(1)])
    reader = DraftReader(recipe(), V1_2)
    await reader.begin(said.get)
    said.records = [record(2), record(3, 8, 2, 2), {"iter": 4}]
    found = await reader.read(said.get)
    assert (found.drafts, found.drafted, found.accepted) == (3, 12, 5)
    assert await reader.read(said.get) == NOTHING
    assert reader.records == 0


@run
async def test_page_with_counters_is_read_alone_and_only_what_grew_counts():
    said = Answers([record(1)], page(10, 5, [(4, 3), (4, 2), (2, 0)]))
    reader = DraftReader(recipe(), MAIN)
    await reader.begin(said.get)
    said.text = page(20, 11, [(8, 6), (8, 4), (4, 1)])
    found = await reader.read(said.get)
    assert (found.drafts, found.drafted, found.accepted) == (4, 10, 6)
    assert found.positions == {"0": 3, "1": 2, "2": 1}
    assert said.asked == [PAGE, PAGE]
    assert said.records  # nobody touched the queue, which the server reads itself


@run
async def test_page_whose_counters_come_later_counts_from_nothing():
    said = Answers([], "trtllm_request_success_total 0\n")
    reader = DraftReader(recipe(), MAIN)
    await reader.begin(said.get)
    said.text = page(6, 2)
    assert (await reader.read(said.get)).drafted == 6
    assert (await reader.read(said.get)).drafted == 0


@run
async def test_counters_that_make_no_sense_are_said_and_not_counted():
    said = Answers([record(1, 4, "many")])
    found = await DraftReader(recipe(), V1_2).read(said.get)
    assert found.drafted == 0
    assert "numAcceptedTokens is 'many'" in found.note
    said = Answers()
    said.get = None

    async def no_list(path):
        return 200, b'{"error": 1}'

    assert await DraftReader(recipe(), V1_2).read(no_list) == NOTHING


@run
async def test_front_reads_by_itself_and_begins_anew_with_each_start():
    async with FakeServer(records=[record(1)]).running() as server:
        async with front({ON: server}) as there:
            assert await there.metric(DRAFTED) == 0
            server.records = [record(2), record(3)]
            await asyncio.sleep(0)

            async def counted(number):
                for _ in range(3000):
                    if await there.metric(DRAFTED) == number:
                        return True
                    await asyncio.sleep(0.02)
                return False

            assert await counted(8)
            there.service.pools[ON].down("it died")
            server.records = [record(1)]  # of the canary of the next one
            await there.service.came_up(ON, server.url)
            server.records = [record(2)]
            assert await counted(12)
        reads = server.paths.count(RECORDS)
        await asyncio.sleep(1.5)
        assert server.paths.count(RECORDS) == reads  # nobody reads after the end


@run
async def test_full_queue_is_read_again_soon():
    async with FakeServer().running() as server, front({ON: server}):
        server.records = [record(number) for number in range(400)]
        await until(lambda: not server.records)
        before = len(server.paths)
        server.records = [record(number) for number in range(400, 800)]
        await until(lambda: not server.records)
        assert len(server.paths) > before
