"""A port that is taken is refused with the program that holds it."""

import os
import socket
from types import SimpleNamespace

import pytest

from trtspec.errors import UsageError
from trtspec.trtllm.pytorch.launch import address as address_module
from trtspec.trtllm.pytorch.launch.address import (
    Address,
    free_address,
    is_closing,
    listens,
    require_free,
)


def test_free_port_can_be_taken():
    address = free_address("127.0.0.1")
    require_free(address)
    assert not is_closing(address)
    assert address.url == f"http://127.0.0.1:{address.port}"


def test_busy_port_names_the_program_that_holds_it():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UsageError) as caught:
            require_free(Address("127.0.0.1", port))
    problem = caught.value.problems[0]
    assert f"port {port} is in use by " in problem.what
    assert f"process {os.getpid()} (this process)" in problem.what
    assert "0 chooses a free one" in problem.action


def test_listener_is_one_of_ours_or_not():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert listens({1}, port), "nobody listens that could be seen"
        server.listen()
        assert listens({1, os.getpid()}, port)
        assert not listens({1}, port)


def test_listener_whose_program_is_not_told_may_be_ours(monkeypatch):
    hidden = SimpleNamespace(status="LISTEN", pid=None)
    monkeypatch.setattr(address_module, "_connections", lambda port: [hidden])
    assert listens({1}, 8000)


def test_port_that_closes_old_connections_is_not_busy_but_closing():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        address = Address("127.0.0.1", server.getsockname()[1])
        with socket.create_connection(server.getsockname()) as client:
            accepted, _ = server.accept()
            accepted.close()  # the side that closes first keeps the port
            client.recv(1)
        assert not is_closing(address), "somebody listens there"
    require_free(address)
    assert is_closing(address)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (Address("no.such.host.invalid", 80), "cannot listen on 'no.such.host.inv"),
        (Address("203.0.113.1", 8000), "cannot listen on '203.0.113.1'"),
        (Address("127.0.0.1", 70000), "there is no port 70000"),
        (Address("", 80), "'' names no host"),
        (Address("a host", 80), "'a host' names no host"),
    ],
)
def test_place_that_does_not_exist_is_refused(address, message):
    with pytest.raises(UsageError, match=message):
        require_free(address)


def test_server_on_all_addresses_is_reached_here():
    assert Address("0.0.0.0", 8000).url == "http://127.0.0.1:8000"
