"""What each path of the server answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from trtspec.errors import UsageError
from trtspec.serve.http.answering import Answering
from trtspec.serve.http.body import read_document
from trtspec.serve.http.request_log import Entry
from trtspec.serve.http.requests import (
    TOGETHER,
    Wanted,
    engine_requests,
    require_choices,
    require_model,
)
from trtspec.serve.metrics.metrics import CONTENT_TYPE
from trtspec.serve.openai.answers import ModelCard, ModelList, State
from trtspec.serve.openai.chat import ChatRequest
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.document import openapi
from trtspec.serve.openai.errors import (
    BAD_REQUEST,
    NOT_FOUND,
    UNAVAILABLE,
    RefusalError,
)
from trtspec.serve.openai.fields import Common
from trtspec.serve.service import Service
from trtspec.serve.writing.base import Head
from trtspec.serve.writing.chat import ChatWriter
from trtspec.serve.writing.completion import CompletionWriter

BodyT = TypeVar("BodyT", bound=Common)


def json_response(document: BaseModel, status: int = 200) -> Response:
    """Answer with a document."""
    return Response(
        document.model_dump_json(), status_code=status, media_type="application/json"
    )


@dataclass(frozen=True, slots=True)
class Routes:
    """The endpoints of one service."""

    service: Service

    async def chat(self, http: HttpRequest) -> Response:
        """/v1/chat/completions."""
        body = await self._body(http, ChatRequest)
        require_model(self.service, body.model)
        require_choices(self.service, body, 1)
        if body.top_logprobs and not body.logprobs:
            raise RefusalError(
                BAD_REQUEST,
                "top_logprobs needs logprobs: true",
                param="top_logprobs",
                code=TOGETHER,
            )
        messages = [message.for_template() for message in body.messages]
        _entry(http).text = messages
        try:
            prompt = await self.service.encode_chat(messages)
        except UsageError as error:
            raise RefusalError(
                BAD_REQUEST, error.problems[0].what, param="messages"
            ) from error
        wanted = Wanted([prompt], body.wanted_tokens, body.wanted_logprobs)
        return await self._answer(http, body, wanted)

    async def completion(self, http: HttpRequest) -> Response:
        """/v1/completions."""
        body = await self._body(http, CompletionRequest)
        require_model(self.service, body.model)
        require_choices(self.service, body, len(body.prompts))
        _entry(http).text = body.prompts
        prompts = [
            await self.service.encode(prompt)
            if isinstance(prompt, str)
            else tuple(prompt)
            for prompt in body.prompts
        ]
        wanted = Wanted(prompts, body.wanted_tokens, body.wanted_logprobs)
        return await self._answer(http, body, wanted)

    async def models(self, http: HttpRequest) -> Response:
        """/v1/models."""
        return json_response(ModelList(data=[self._card]))

    async def model(self, http: HttpRequest) -> Response:
        """/v1/models/NAME."""
        name = http.path_params["model"]
        if name != self.service.name:
            raise RefusalError(
                NOT_FOUND,
                f"there is no model {name[:80]!r} here",
                param="model",
                code="model_not_found",
            )
        return json_response(self._card)

    async def health(self, http: HttpRequest) -> Response:
        """/health: whether the process can go on; 503 if it should be restarted."""
        wrong = self.service.health()
        status = UNAVAILABLE if wrong else 200
        return json_response(
            State(status="failed" if wrong else "ok", reason=wrong), status
        )

    async def ready(self, http: HttpRequest) -> Response:
        """/ready: whether requests are taken."""
        phase = self.service.phase
        wrong = self.service.health() or ("" if phase.ready else phase.reason)
        status = UNAVAILABLE if wrong else 200
        return json_response(
            State(status=phase.name if wrong else "ready", reason=wrong), status
        )

    async def metrics(self, http: HttpRequest) -> Response:
        """/metrics, for Prometheus."""
        ready = self.service.phase.ready and not self.service.health()
        self.service.metrics.ready(ready)
        return Response(self.service.metrics.render(), media_type=CONTENT_TYPE)

    async def openapi(self, http: HttpRequest) -> Response:
        """/openapi.json: this very description."""
        return Response(openapi(self.service), media_type="application/json")

    @property
    def _card(self) -> ModelCard:
        service = self.service
        return ModelCard(
            id=service.name,
            created=service.created,
            max_model_len=service.recipe.limits.max_total_tokens,
            trtspec={
                "artifact": service.identity.artifact,
                "fingerprint": service.identity.fingerprint,
                "backend": service.identity.backend,
                "method": service.identity.method,
                "draft_length": service.identity.draft_length,
                "longest_draft": service.recipe.speculation.longest_draft,
                "version": service.identity.version,
            },
        )

    async def _body(self, http: HttpRequest, kind: type[BodyT]) -> BodyT:
        limits = self.service.limits
        self.service.admission.require_room()
        share = http.state.share
        return await read_document(
            http, kind, limits.body_bytes, limits.head_seconds, share
        )

    async def _answer(
        self, http: HttpRequest, body: Common, wanted: Wanted
    ) -> Response:
        service, entry = self.service, _entry(http)
        entry.stream = bool(body.stream)
        if body.stream_options is not None and not body.stream:
            raise RefusalError(
                BAD_REQUEST,
                "stream_options needs stream: true",
                param="stream_options",
                code=TOGETHER,
            )
        requests = engine_requests(service, body, wanted, entry.id)
        head = self._head(entry, requests[0].speculate, body, wanted.prompts)
        kind = ChatWriter if isinstance(body, ChatRequest) else CompletionWriter
        place = service.admission.enter(len(requests))
        answering = Answering(
            service, head, kind(head), requests, body.n or 1, entry, place
        )
        if body.stream:
            return await answering.stream(http, body)
        return await answering.whole(http)

    def _head(
        self,
        entry: Entry,
        speculate: bool,
        body: Common,
        prompts: Sequence[tuple[int, ...]],
    ) -> Head:
        return Head(
            entry.id,
            int(time.time()),
            self.service.name,
            self.service.recipe.speculation.method,
            speculate,
            self.service.codec.pieces,
            bool(body.return_token_ids),
            prompts,
        )


def _entry(http: HttpRequest) -> Entry:
    entry: Entry = http.state.entry
    return entry
