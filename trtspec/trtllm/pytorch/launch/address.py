"""Where a server listens, and whether that place is free."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from trtspec.errors import UsageError
from trtspec.trtllm.pytorch.launch.hosts import HOSTS, is_host

_EVERYWHERE = "0.0.0.0"  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port that a server listens on."""

    host: str
    port: int

    @property
    def reached_by(self) -> str:
        """The host under which this machine reaches it."""
        return "127.0.0.1" if self.host == _EVERYWHERE else self.host

    @property
    def url(self) -> str:
        """The base URL for clients on this machine."""
        return f"http://{self.reached_by}:{self.port}"


def require_host(host: str) -> None:
    """Refuse what names no host.

    :raises UsageError: for an empty text, one with spaces, half an address.
    """
    if not is_host(host):
        raise UsageError(f"{host!r} names no host", where="--host", allowed=HOSTS)


def free_address(host: str) -> Address:
    """Choose a port that is free now; another program may take it before the server.

    :raises UsageError: for a host that is not of this machine.
    """
    require_host(host)
    return Address(host, _bind(Address(host, 0)))


def require_free(address: Address) -> None:
    """Refuse a port that another program holds, naming the program where that is known.

    A port whose last connections are being closed counts as free: see ``is_closing``.

    :raises UsageError: if it is held, or the host is not of this machine.
    """
    require_host(address.host)
    if not is_closing(address):
        _bind(address)


def is_closing(address: Address) -> bool:
    """Whether connections of an earlier server still keep the port from being bound.

    ``trtllm-serve`` binds without SO_REUSEADDR (``launch_server`` in
    tensorrt_llm/commands/serve.py), so it has to wait for the kernel to forget them,
    a minute at most.
    """
    states = {c.status for c in _connections(address.port)}
    return "TIME_WAIT" in states and "LISTEN" not in states


def listens(processes: Collection[int], port: int) -> bool:
    """Whether one of some processes listens on a port, as far as that is visible.

    :param processes: process ids.
    """
    listening = {c.pid for c in _connections(port) if c.status == "LISTEN"}
    # the owner of another user's connection, or of another namespace's, is not told
    return not listening or None in listening or bool(listening & {*processes})


def _bind(address: Address) -> int:
    """Bind a port as the server will, and let it go; gives the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise _refusal(address, error) from error
        except OverflowError:
            raise UsageError(
                f"there is no port {address.port}", where="--port", allowed="0 to 65535"
            ) from None
        port: int = probe.getsockname()[1]
        return port


def _refusal(address: Address, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"port {address.port} is in use{_holder(address.port)}",
            where="--port",
            action="stop that program, or choose another port; 0 chooses a free one",
        )
    if error.errno == errno.EACCES:
        return UsageError(
            f"port {address.port} is not open to this user",
            where="--port",
            allowed="1024 and above",
        )
    return UsageError(
        f"cannot listen on {address.host!r}: {error.strerror or error}",
        where="--host",
        allowed=HOSTS,
    )


def _holder(port: int) -> str:
    """Say which program listens on a port; empty if that is not visible to us."""
    import psutil

    for connection in _connections(port):
        if connection.status == "LISTEN" and connection.pid:
            with suppress(psutil.Error):
                name = psutil.Process(connection.pid).name()
                ours = " (this process)" if connection.pid == os.getpid() else ""
                return f" by {name}, process {connection.pid}{ours}"
    return ""


def _connections(port: int) -> list[Any]:
    """Give the connections whose end here is a port; none if they are not visible."""
    import psutil

    try:
        every = psutil.net_connections(kind="tcp4")
    except (psutil.Error, OSError):
        return []
    return [c for c in every if c.laddr and c.laddr.port == port]
