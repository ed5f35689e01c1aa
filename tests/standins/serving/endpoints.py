"""What does the server answer at each of its addresses?"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.llm.request import RequestError, RequestOutput
from tests.standins.llm.sampling import SamplingParams
from tests.standins.machine import Machine
from tests.standins.serving import bodies, figures
from tests.standins.serving.bodies import BadRequestError
from tests.standins.serving.choices import ChatShape, Shape, usage
from tests.standins.serving.command import CommandLine
from tests.standins.serving.failing import Failure
from tests.standins.serving.http import HttpRequest, HttpResponse
from trtspec.trtllm.facts import serving

PATHS: tuple[serving.RequestPath, ...] = ("/v1/completions", "/v1/chat/completions")


class Endpoints:
    """The application of one server."""

    def __init__(
        self,
        llm: Any,
        line: CommandLine,
        version: str,
        *,
        machine: Machine,
        failure: Failure,
    ) -> None:
        self.llm, self.version = llm, version
        self.machine, self.failure = machine, failure
        self.name = line.get("--served_model_name") or _model_name(line.model)
        template = line.get("--chat_template")
        self.template = Path(template).read_text() if template else None
        self.finished = 0
        kept = getattr(llm.args, "perf_metrics_max_requests", 0) or 0
        self.requests: deque[Any] | None = deque(maxlen=kept) if kept else None
        self._routes = {
            ("GET", "/health"): self.health,
            ("GET", "/health_generate"): self.health_generate,
            ("GET", "/version"): self.get_version,
            ("GET", "/v1/models"): self.models,
            ("POST", "/v1/completions"): self.completions,
            ("POST", "/v1/chat/completions"): self.chat,
            ("GET", "/metrics"): self.iterations,
        }
        facts = serving.endpoints(Version(version))
        for path, answer in {
            "/perf_metrics": self.perf_metrics,
            "/prometheus/metrics": self.prometheus,
        }.items():
            if path in facts and llm.args.return_perf_metrics:
                self._routes["GET", path] = answer
        fields = (serving.request_fields(path, Version(version)) for path in PATHS)
        self._fields = dict(zip(PATHS, fields, strict=True))

    async def answer(self, request: HttpRequest) -> HttpResponse:
        route = self._routes.get((request.method, request.path))
        if route is None:
            known = any(path == request.path for _, path in self._routes)
            status = 405 if known else 404
            detail = "Method Not Allowed" if known else "Not Found"
            return HttpResponse.of({"detail": detail}, status)
        try:
            return await route(request)
        except BadRequestError as error:
            return HttpResponse.of({"error": str(error)}, 400)
        except json.JSONDecodeError as error:
            return HttpResponse.of({"error": f"JSON decode error: {error}"}, 400)
        except (ValueError, TypeError, RequestError, RuntimeError) as error:
            return _refused(str(error), 400 if isinstance(error, ValueError) else 500)

    async def health(self, _: HttpRequest) -> HttpResponse:
        if self.failure.name == "unhealthy":
            return HttpResponse.text("LLM is unavailable. Please check the logs.", 503)
        return HttpResponse(200, b"")

    async def health_generate(self, _: HttpRequest) -> HttpResponse:
        await self.llm.generate_async([0], SamplingParams(max_tokens=1)).aresult()
        return HttpResponse.text("Generation health check OK")

    async def get_version(self, _: HttpRequest) -> HttpResponse:
        return HttpResponse.of({"version": self.version})

    async def models(self, _: HttpRequest) -> HttpResponse:
        card = {"id": self.name, "object": "model", "owned_by": "tensorrt_llm"}
        return HttpResponse.of({"object": "list", "data": [{**card, "created": 0}]})

    async def iterations(self, _: HttpRequest) -> HttpResponse:
        return HttpResponse.of([one async for one in self.llm.get_stats_async(2)])

    async def prometheus(self, _: HttpRequest) -> HttpResponse:
        return HttpResponse.text(figures.prometheus(self.llm, self.finished))

    async def perf_metrics(self, _: HttpRequest) -> HttpResponse:
        found = list(self.requests or ())
        if self.requests is not None:
            self.requests.clear()
        return HttpResponse.of(found)

    async def completions(self, request: HttpRequest) -> HttpResponse:
        body = request.json()
        bodies.require_fields(body, self._fields[request.path])
        shape = Shape(self.name, body.get("detokenize") is not False)
        return await self._generate(
            request, body, shape, bodies.prompts(body["prompt"])
        )

    async def chat(self, request: HttpRequest) -> HttpResponse:
        body = request.json()
        bodies.require_fields(body, self._fields[request.path])
        prompt = body.get("prompt_token_ids") or bodies.render(
            self.llm._checkpoint, self.template, body
        )
        given = {"add_special_tokens": False, **body}
        return await self._generate(request, given, ChatShape(self.name), [prompt])

    async def _generate(
        self, request: HttpRequest, body: dict[str, Any], shape: Shape, asked: list[Any]
    ) -> HttpResponse:
        guided = self.llm.args.guided_decoding_backend
        params = bodies.sampling(body, self._fields[request.path], guided)
        stream = bool(body.get("stream"))
        results = [self.llm.generate_async(p, params, streaming=stream) for p in asked]
        if stream:
            options = body.get("stream_options") or {}
            counted = bool(options) and options.get("include_usage", True)
            parts = self._events(request, shape, results, counted)
            return HttpResponse(kind="text/event-stream; charset=utf-8", parts=parts)
        waiting = asyncio.gather(*(result.aresult() for result in results))
        await asyncio.wait({request.gone, waiting}, return_when="FIRST_COMPLETED")
        if not waiting.done():
            self._abandon(results)
        await waiting
        self._count(results)
        self.failure.after_sending(sum(r.outputs[0].length for r in results))
        choices = [shape.choice(index, r) for index, r in enumerate(results)]
        document = shape.document(results[0].id, choices, usage=usage(results))
        return HttpResponse.of(document)

    async def _events(
        self, request: HttpRequest, shape: Shape, results: list[Any], counted: bool
    ) -> AsyncIterator[str]:
        first = results[0].id
        try:
            for index, result in enumerate(results):
                if (opening := shape.opening(index)) is not None:
                    yield shape.event(first, [opening])
                async for _ in self._until_gone(request, result):
                    self.failure.after_sending(len(result.outputs[0].token_ids_diff))
                    yield shape.event(first, [shape.delta(index, result)])
        except RequestError as error:
            yield f"data: {json.dumps({'error': str(error)})}\n\n"
            return
        finally:
            if not all(result.finished for result in results):
                self._abandon(results)
        if request.gone.done():
            return
        self._count(results)
        if counted:
            yield shape.event(first, [], usage=usage(results))
        yield "data: [DONE]\n\n"

    async def _until_gone(
        self, request: HttpRequest, result: RequestOutput
    ) -> AsyncIterator[RequestOutput]:
        while not result.finished:
            arriving = asyncio.ensure_future(result.__anext__())
            await asyncio.wait(
                {request.gone, arriving}, return_when=asyncio.FIRST_COMPLETED
            )
            if request.gone.done():
                arriving.cancel()
                return
            yield await arriving

    def _abandon(self, results: list[RequestOutput]) -> None:
        for result in results:
            if not result.finished:
                result.abort()
                self.machine.note("disconnect", id=result.id)

    def _count(self, results: list[RequestOutput]) -> None:
        self.finished += len(results)
        if self.requests is not None and self.llm.args.return_perf_metrics:
            self.requests.extend(map(figures.request_record, results))


def _model_name(model: str) -> str:
    return Path(model).name if Path(model).is_dir() else model


def _refused(message: str, status: int) -> HttpResponse:
    kind = "BadRequestError" if status < 500 else "InternalServerError"
    content = {"object": "error", "message": message, "type": kind, "code": status}
    return HttpResponse.of({**content, "param": None}, status)
