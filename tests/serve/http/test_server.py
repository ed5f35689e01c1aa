"""Ports: taken at once, or refused with what to do."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from trtspec.errors import UsageError
from trtspec.serve.http.server import listen


def test_a_port_is_ours_from_then_on():
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert port > 0
        with pytest.raises(UsageError, match=f"port {port} is in use") as caught:
            listen("127.0.0.1", port)
        assert caught.value.problems[0].where == "--port"
        # connections wait until somebody answers
        socket.create_connection(("127.0.0.1", port), 5).close()


def test_a_port_that_was_left_can_be_taken_at_once():
    with closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), 5).close()
    listen("127.0.0.1", port).close()


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_is_not_here(host):
    with pytest.raises(UsageError) as caught:
        listen(host, 0)
    problem = caught.value.problems[0]
    assert problem.where == "--host"
    assert host in problem.what


def test_loopback_of_ipv6_where_there_is_one():
    try:
        socket.socket(socket.AF_INET6).bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 here")
    listen("::1", 0).close()
