"""Which server answers at an address, before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from trtspec.bench.http.address import API_KEY, OPTION, Address, Api
from trtspec.bench.http.drafts import whole_number
from trtspec.bench.http.stream import LONGEST
from trtspec.bench.http.words import plain, whole
from trtspec.errors import RunError, UsageError

if TYPE_CHECKING:
    import httpx

_FOUND = 200
_DENIED = (401, 403)
_SECONDS = 10.0
_TOLD = ("owned_by", "max_model_len")
"""Of a model in GET /v1/models: who serves it, and with vLLM its longest context."""

_OWN = "trtspec"
"""Key under which trtspec's own server tells of its artifact, in GET /v1/models."""
_CAN_BE_OFF = ("draft_target", "ngram", "lookahead")
"""Methods whose engines of backend tensorrt can decode without drafting."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers.

    :param model: as it is named in the requests.
    :param described: what the server says of itself.
    :param own: what trtspec's own server says of the artifact behind it; empty for
        other servers.
    """

    address: Address
    model: str
    api: Api
    described: Mapping[str, JsonValue] = field(default_factory=dict)
    own: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The speculation method, where the server tells it; else ``unknown``."""
        return str(self.own.get("method") or "unknown")

    @property
    def switchable(self) -> bool:
        """Whether a request may ask to be decoded without drafting.

        TensorRT-LLM's engines for methods that draft inside, and its backend pytorch,
        draft as they were built or started.
        """
        method, backend = self.method, self.own.get("backend")
        if backend == "tensorrt":
            return method in _CAN_BE_OFF
        return backend == "reference" and method not in ("none", "unknown")


def look_at(address: Address, model: str | None, api: Api) -> Server:
    """Ask a server what it is.

    :param model: as the user named it; None takes the server's first.
    :raises RunError: if it cannot be reached, or lets nobody in.
    :raises UsageError: if no model is named and it names none.
    """
    with _client(address) as client:
        reply = _get_models(client, address)
        models = _models(reply)
        name = model or _first(models, address)
        described: dict[str, JsonValue] = {
            "server": _short(reply.headers.get("server")),
            "version": _short(_version(client)),
        }
    entry = models.get(name, {})
    described |= {
        key: _short(entry[key]) for key in _TOLD if entry.get(key) is not None
    }
    own = entry.get(_OWN)
    told = {str(k): _short(v) for k, v in own.items()} if isinstance(own, dict) else {}
    if told:
        described[_OWN] = dict(told)
    return Server(address, name, api, described, told)


def _client(address: Address) -> httpx.Client:
    """Make what asks a server.

    :raises UsageError: if its address is none, which only a client may find out.
    """
    import httpx

    headers = {"Authorization": address.authorization} if address.authorization else {}
    try:
        return httpx.Client(
            base_url=address.url,
            headers=headers,
            timeout=_SECONDS,
            trust_env=not address.here,  # no proxy leads to this machine
        )
    except (httpx.InvalidURL, ValueError) as error:
        raise UsageError(
            f"{address.url!r}, or a proxy's address in the environment, is none: "
            f"{error}",
            where=OPTION,
        ) from error


def _short(told: object) -> JsonValue:
    """Keep what a server says of itself: a count, or a text that is not too long."""
    if told is None or whole_number(told) is not None:
        return whole_number(told)
    return plain(str(told)[:LONGEST])


def _get_models(client: httpx.Client, address: Address) -> httpx.Response:
    import httpx

    try:
        reply = client.get("/v1/models")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise RunError(
            f"no server answers: {str(error) or type(error).__name__}",
            where=address.url,
            action="see that it is running and ready, and that the address is its own",
        ) from error
    if reply.status_code in _DENIED:
        raise RunError(
            f"the server lets nobody in without a key (status {reply.status_code})",
            where=address.url,
            action=f"set {API_KEY} to a key that it takes",
        )
    return reply


def _models(reply: httpx.Response) -> dict[str, dict[str, Any]]:
    """Give what the server says of each model; empty if it has no such list."""
    try:
        rows = reply.json()["data"] if reply.status_code == _FOUND else []
        return {whole(str(row["id"])): row for row in rows}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _first(models: Mapping[str, object], address: Address) -> str:
    if not models:
        raise UsageError(
            f"{address.url} names no models (GET /v1/models)",
            where="--model",
            action="say with --model which one to ask for",
        )
    return next(iter(models))


def _version(client: httpx.Client) -> str | None:
    """Give the server's version; None if it does not tell (only vLLM, trtllm-serve)."""
    import httpx

    try:
        content = client.get("/version").json()
    except (httpx.HTTPError, ValueError, RecursionError):
        return None
    version = content.get("version") if isinstance(content, dict) else None
    return None if version is None else str(version)
