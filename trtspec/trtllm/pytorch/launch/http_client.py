"""What a server answers: small JSON requests over HTTP, each with a time limit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any

from trtspec.trtllm.pytorch.launch.address import Address

_READY = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and the text under it."""

    status: int
    text: str

    @property
    def ok(self) -> bool:
        """Whether the request was served."""
        return self.status == _READY

    def json(self) -> Any:
        """Give the text as JSON; None if it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None


def ask(
    address: Address,
    path: str,
    *,
    timeout: float,
    body: Mapping[str, object] | None = None,
) -> Answer | None:
    """Send a GET, or a POST if there is a body; None if nothing answers in time.

    :param path: such as ``/health``.
    :param timeout: seconds between any two pieces of the answer.
    """
    connection = HTTPConnection(address.reached_by, address.port, timeout=timeout)
    try:
        if body is None:
            connection.request("GET", path)
        else:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", path, json.dumps(body), headers)
        response = connection.getresponse()
        return Answer(response.status, response.read().decode(errors="replace"))
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def is_healthy(address: Address, timeout: float) -> bool | None:
    """Whether the server says that it can serve; None if it says nothing."""
    answer = ask(address, "/health", timeout=timeout)
    return None if answer is None else answer.ok


def served_model(address: Address, timeout: float) -> str | None:
    """Give the name under which clients ask for the model; None if none is told."""
    answer = ask(address, "/v1/models", timeout=timeout)
    if answer is None or not answer.ok:
        return None
    listed = answer.json()
    try:
        return str(listed["data"][0]["id"])
    except (KeyError, IndexError, TypeError):
        return None
