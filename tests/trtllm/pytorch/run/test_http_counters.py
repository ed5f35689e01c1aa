"""A server's counters: since the runner was opened, and none that others wait for."""

from __future__ import annotations

import httpx
import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.tiny_server import TinyServer
from trtspec.trtllm.pytorch.run.http_counters import count_drafts, counted_before

DRAFTED = "trtllm_spec_decode_num_draft_tokens_total"
ACCEPTED = "trtllm_spec_decode_num_accepted_tokens_total"
PAGE = "/prometheus/metrics"
RECORD = {"numDraftTokens": 9, "numAcceptedTokens": 6, "numRequestsWithDraftTokens": 3}


def page(drafted, accepted):
    return f"{DRAFTED} {drafted}\n{ACCEPTED} {accepted}\n"


@pytest.fixture
def server():
    server = TinyServer()
    yield server
    server.close()


def before(server):
    with httpx.Client(base_url=server.url) as client:
        return counted_before(client, server.url)


def counted(server, then, *, ours):
    return count_drafts(
        server.url,
        Version("1.4.0rc4"),
        then,
        ours=ours,
        interval=1,
        attention_dp=False,
    )


def test_of_a_server_of_our_own_the_records_are_read(server):
    then = before(server)
    assert server.read == [PAGE]  # an empty queue would be waited for
    server.pages["/metrics"] = [{"iter": 1, "specDecodingStats": RECORD}]
    found = counted(server, then, ours=True)
    assert (found.drafted, found.accepted, found.steps) == (9, 6, 3)


@pytest.mark.parametrize("ours", [True, False])
def test_what_a_page_had_before_is_taken_off(server, ours):
    server.pages[PAGE] = page(100, 50)
    then = before(server)
    server.pages[PAGE] = page(108, 52)
    found = counted(server, then, ours=ours)
    assert (found.drafted, found.accepted) == (8, 2)
    assert ("other clients count too" in found.note) is not ours


def test_records_that_others_may_wait_for_are_left(server):
    server.pages["/metrics"] = [{"iter": 1, "specDecodingStats": RECORD}]
    found = counted(server, before(server), ours=False)
    assert server.read == [PAGE, PAGE]
    assert "no such page, and its iteration records may be others'" in found.says()


def test_a_server_that_is_gone_has_no_page(server):
    client = httpx.Client(base_url="http://127.0.0.1:1")
    with client:
        assert counted_before(client, "http://127.0.0.1:1") is None
