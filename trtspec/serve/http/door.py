"""What every request passes on its way in and out: the log, the key, the phase."""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.body import BodyRoom, BodyShare
from trtspec.serve.http.phase import Phase
from trtspec.serve.http.request_log import Entry, RequestLog
from trtspec.serve.metrics import ServerMetrics
from trtspec.serve.openai.errors import FAILED, RefusalError

_log = logging.getLogger("trtspec.serve")
_GUARDED = "/v1/"
_GONE = 499
"""What the log says of a client that left; nothing was sent."""


@dataclass(slots=True)
class Door:
    """An ASGI application around another one.

    Requests to ``/v1/`` need a key, are logged and counted; those that generate are
    refused unless the server is ready. Every error leaves as OpenAI's document, and
    nothing of the server's insides with it.

    :param own_key: lets in who looks at the server before it is ready.
    :param bodies: bounds what all requests' bodies hold together.
    :ivar inside: requests to ``/v1/`` that were let in and are not answered yet.
    """

    app: ASGIApp
    keys: ApiKeys
    phase: Phase
    log: RequestLog
    metrics: ServerMetrics
    own_key: str
    bodies: BodyRoom
    inside: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path: str = scope["path"]
        host = scope.get("client") or ("", 0)
        entry = Entry(_new_id(path), path, host[0])
        share = BodyShare(self.bodies)
        scope.setdefault("state", {}).update(entry=entry, share=share)
        scope["app"] = self.app  # with one, the router raises what it refuses
        sender = _Sender(send, entry)
        let_in = False
        try:
            if path.startswith(_GUARDED):
                self._let_in(scope)
                self.inside += 1
                let_in = True
            await self.app(scope, receive, sender)
        except RefusalError as refusal:
            lost = let_in and refusal.status >= FAILED
            await self._refuse(refusal, entry, scope, receive, sender, lost=lost)
        except HTTPException as error:  # the router has no such path, or method
            await self._refuse(_no_path(scope, error), entry, scope, receive, sender)
        except ClientDisconnect:
            entry.status = entry.status or _GONE
            entry.outcome = "gone"
        except Exception as error:  # noqa: BLE001 - the last net before the client
            _log.exception("request %s failed", entry.id)
            entry.reason = f"{type(error).__name__}: {error}"
            broken = RefusalError(FAILED, f"internal error; see the log, {entry.id}")
            await self._refuse(broken, entry, scope, receive, sender, lost=True)
        finally:
            share.release()
            self.inside -= let_in
            if path.startswith(_GUARDED):
                entry.outcome = entry.outcome or "ok"
                self.log.add(entry)

    def _let_in(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if ApiKeys([self.own_key]).has(headers):
            return
        self.keys.require(headers)
        if scope["method"] == "POST":
            self.phase.require_ready()

    async def _refuse(
        self,
        refusal: RefusalError,
        entry: Entry,
        scope: Scope,
        receive: Receive,
        sender: _Sender,
        *,
        lost: bool = False,
    ) -> None:
        """Answer with an error.

        :param lost: whether the request had been taken, and is no mere refusal.
        """
        entry.outcome = "failed" if lost else "refused"
        entry.reason = entry.reason or refusal.logged or refusal.message
        count = self.metrics.failed if lost else self.metrics.refused
        count(str(refusal.status))
        if sender.begun:  # too late for another status: the connection ends here
            return
        response = Response(
            refusal.document.model_dump_json(),
            status_code=refusal.status,
            headers=dict(refusal.headers or {}),
            media_type="application/json",
        )
        await response(scope, receive, sender)


class _Sender:
    """Sends, and notes what was sent."""

    def __init__(self, send: Send, entry: Entry) -> None:
        self._send, self._entry = send, entry
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            self._entry.status = message["status"]
            message["headers"] = [
                *message.get("headers", ()),
                (b"x-request-id", self._entry.id.encode()),
            ]
        await self._send(message)


def _no_path(scope: Scope, error: HTTPException) -> RefusalError:
    what = f"{scope['method']} {scope['path']}"
    return RefusalError(
        error.status_code,
        f"{what}: {error.detail}; /openapi.json has all paths",
        headers=error.headers,
    )


def _new_id(path: str) -> str:
    """Make the id of a request, with the beginning that OpenAI's ids have."""
    begin = {"/v1/chat/completions": "chatcmpl", "/v1/completions": "cmpl"}
    return f"{begin.get(path, 'req')}-{secrets.token_hex(12)}"
