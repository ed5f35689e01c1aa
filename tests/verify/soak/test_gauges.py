"""What a server tells of its load, and which process it is."""

from __future__ import annotations

import os

import pytest

from tests.bench.http.mock_server import Script, serving
from trtspec.bench.http.address import read_address
from trtspec.verify.soak.gauges import Gauges, gauges_in, process_behind, read_gauges

OURS = """\
# HELP trtspec:num_requests_running Requests that run.
# TYPE trtspec:num_requests_running gauge
trtspec:num_requests_running{model_name="toy"} 2.0
trtspec:num_requests_waiting{model_name="toy"} 1.0
trtspec:generation_tokens_total{model_name="toy"} 77.0
"""
VLLM = """\
vllm:num_requests_running{engine="0",model_name="a b}c"} 2.0
vllm:num_requests_running{engine="1",model_name="a b}c"} 3.0
vllm:num_requests_waiting{engine="0",model_name="a b}c"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",reason="x"} 9.0
vllm:kv_cache_usage_perc{engine="0"} 0.25
"""


def test_our_own_names():
    found = gauges_in(OURS)
    assert found.names == (
        "trtspec:num_requests_running",
        "trtspec:num_requests_waiting",
    )
    assert (found.running, found.waiting, found.busy) == (2.0, 1.0, 3.0)
    assert found.cache is None


def test_vllms_names_with_its_engines_added_up():
    found = gauges_in(VLLM)
    assert (found.running, found.waiting, found.cache) == (5.0, 0.0, 0.25)
    assert found.names[-1] == "vllm:kv_cache_usage_perc"


@pytest.mark.parametrize("text", ["", "# only words\n", "up 1\n", "not a page <html>"])
def test_other_pages_tell_nothing(text):
    found = gauges_in(text)
    assert found == Gauges()
    assert found.busy == 0.0


def test_a_value_that_is_none_is_left_out():
    assert gauges_in("vllm:num_requests_running what\n") == Gauges()


def test_a_server_is_asked_and_may_have_no_page():
    with serving(models=Script((b"{}",))) as server:
        assert read_gauges(read_address(server.url)) == Gauges()
        server._pages["/metrics"] = Script((OURS.encode(),), kind="text/plain")
        assert read_gauges(read_address(server.url)).running == 2.0
    assert read_gauges(read_address(server.url)) == Gauges()  # it is gone


def test_the_process_that_listens_is_found():
    with serving() as server:
        assert process_behind(read_address(server.url)) == os.getpid()
    assert process_behind(read_address(server.url)) is None
    assert process_behind(read_address("http://192.0.2.1:8000")) is None
