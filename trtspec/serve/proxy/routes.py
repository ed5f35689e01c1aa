"""What each path of a front answers."""

from __future__ import annotations

import asyncio
import json
import secrets
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route, Router

from trtspec.serve.http.body import BodyRoom, read_document
from trtspec.serve.http.door import Door
from trtspec.serve.http.request_log import Entry
from trtspec.serve.metrics.metrics import CONTENT_TYPE
from trtspec.serve.openai.answers import ModelCard, ModelList
from trtspec.serve.openai.errors import (
    BAD_REQUEST,
    NOT_FOUND,
    UNAVAILABLE,
    RefusalError,
)
from trtspec.serve.proxy.answering import Answering, Sent
from trtspec.serve.proxy.asking import (
    Body,
    count_choices,
    for_server,
    prompt_tokens,
    require_stream_options,
    take_speculation,
)
from trtspec.serve.proxy.document import openapi
from trtspec.serve.proxy.pool import Pool
from trtspec.serve.proxy.routing import Asked, Routed
from trtspec.serve.proxy.rules import POOL_HEADER, ROUTE_HEADER, WARNING_HEADER
from trtspec.serve.proxy.service import ProxyService
from trtspec.trtllm.facts.serving import RequestPath

CHAT: RequestPath = "/v1/chat/completions"
COMPLETIONS: RequestPath = "/v1/completions"


@dataclass(frozen=True, slots=True)
class ProxyRoutes:
    """The endpoints of one front."""

    service: ProxyService

    async def chat(self, http: HttpRequest) -> Response:
        """/v1/chat/completions."""
        return await self._generate(http, CHAT, "messages")

    async def completion(self, http: HttpRequest) -> Response:
        """/v1/completions."""
        return await self._generate(http, COMPLETIONS, "prompt")

    async def models(self, http: HttpRequest) -> Response:
        """/v1/models: the off pool's name asks for that pool."""
        cards = [self._card(pool) for pool in self._listed()]
        return _json(ModelList(data=cards).model_dump_json())

    async def model(self, http: HttpRequest) -> Response:
        """/v1/models/NAME."""
        name = http.path_params["model"]
        return _json(self._card(self._named(name)).model_dump_json())

    async def health(self, http: HttpRequest) -> Response:
        """/health: whether this process answers; its servers are started again."""
        return _state("ok", self.service)

    async def ready(self, http: HttpRequest) -> Response:
        """/ready: whether any pool takes requests."""
        service = self.service
        if not service.phase.ready:
            return _state(service.phase.name, service, service.phase.reason)
        return _state("ready", service)

    async def metrics(self, http: HttpRequest) -> Response:
        """/metrics, for Prometheus."""
        return Response(self.service.render(), media_type=CONTENT_TYPE)

    async def openapi(self, http: HttpRequest) -> Response:
        """/openapi.json: all of this as a document."""
        return _json(openapi(self.service))

    async def _generate(
        self, http: HttpRequest, path: RequestPath, text: str
    ) -> Response:
        service, limits = self.service, self.service.limits
        entry: Entry = http.state.entry
        read = await read_document(
            http, Body, limits.body_bytes, limits.head_seconds, http.state.share
        )
        body = read.root
        entry.text, entry.stream = body.get(text), bool(body.get("stream"))
        speculation = take_speculation(body)
        require_stream_options(body)
        choices = count_choices(body, limits.choices)
        self._named(body.get("model"))
        headers = http.headers
        asked = Asked(path, body, headers, speculation, await self._tokens(body))
        routed = service.router.route(asked)
        pool = routed.pool
        sent = Sent(
            pool,
            routed.why,
            path,
            body,
            for_server(body, path, pool.model, pool.screen.version),
            choices,
            routed.screened.lossy,
            headers,
            _shown(routed),
        )
        answering = Answering(service.upstream, service.metrics[pool.name], sent, entry)
        if body.get("stream"):
            return await answering.stream(http, limits.write_seconds)
        return await answering.whole(http)

    async def _tokens(self, body: dict[str, Any]) -> int:
        """Count a prompt's tokens, beside the event loop, if a rule looks at them."""
        codec = self.service.codec
        if codec is None:
            return 0
        return await asyncio.to_thread(prompt_tokens, body, codec.encode)

    def _listed(self) -> list[Pool]:
        main = self.service.main
        others = [pool for pool in self.service.pools.values() if pool is not main]
        return [main, *others]

    def _named(self, name: object) -> Pool:
        """Find the pool with a served name.

        :raises RefusalError: 404, or 400 if it is no name.
        """
        if not isinstance(name, str):
            what = "is missing" if name is None else "is no text"
            raise RefusalError(BAD_REQUEST, f"model: {what}", param="model")
        for pool in self._listed():
            if pool.model == name:
                return pool
        names = " and ".join(repr(pool.model) for pool in self._listed())
        raise RefusalError(
            NOT_FOUND,
            f"there is no model {name!r} here; served is {names}",
            param="model",
            code="model_not_found",
        )

    def _card(self, pool: Pool) -> ModelCard:
        identity = self.service.identities[pool.name]
        return ModelCard(
            id=pool.model,
            created=self.service.created,
            max_model_len=pool.screen.recipe.limits.max_total_tokens,
            trtspec={
                "artifact": identity.artifact,
                "fingerprint": identity.fingerprint,
                "backend": identity.backend,
                "method": identity.method,
                "draft_length": identity.draft_length,
                "longest_draft": pool.screen.recipe.speculation.longest_draft,
                "version": identity.version,
                "pool": pool.name,
                "tensorrt_llm": str(pool.screen.version),
            },
        )


def application(service: ProxyService) -> Door:
    """Make the application of a front."""
    routes = ProxyRoutes(service)
    router = Router(
        [
            Route(CHAT, routes.chat, methods=["POST"]),
            Route(COMPLETIONS, routes.completion, methods=["POST"]),
            Route("/v1/models", routes.models, methods=["GET"]),
            Route("/v1/models/{model:path}", routes.model, methods=["GET"]),
            Route("/health", routes.health, methods=["GET"]),
            Route("/ready", routes.ready, methods=["GET"]),
            Route("/metrics", routes.metrics, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
        ],
        redirect_slashes=False,
    )
    metrics = service.metrics[service.main.name]
    nobody = secrets.token_urlsafe()
    bodies = BodyRoom(service.limits.held_bytes)
    return Door(
        router, service.keys, service.phase, service.log, metrics, nobody, bodies
    )


def _shown(routed: Routed) -> dict[str, str]:
    """Give the headers that say where an answer is from, and what it may lack."""
    shown = {POOL_HEADER: routed.pool.name, ROUTE_HEADER: routed.why}
    if warnings := routed.screened.warnings:
        line = " ".join("; ".join(warnings).split())  # a header is one line of Latin-1
        shown[WARNING_HEADER] = line.encode("ascii", "replace").decode()
    return shown


def _json(text: str, status: int = 200) -> Response:
    return Response(text, status_code=status, media_type="application/json")


def _state(status: str, service: ProxyService, reason: str = "") -> Response:
    """Say how the server does, and each of its pools."""
    pools = {
        pool.name: {"state": pool.state, "reason": pool.why, "model": pool.model}
        for pool in service.pools.values()
    }
    document = {"status": status, "reason": reason, "pools": pools}
    fine = status in ("ok", "ready")
    return _json(json.dumps(document), 200 if fine else UNAVAILABLE)
