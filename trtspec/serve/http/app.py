"""The server as an ASGI application."""

from __future__ import annotations

from starlette.routing import Route, Router

from trtspec.serve.http.body import BodyRoom
from trtspec.serve.http.door import Door
from trtspec.serve.http.routes import Routes
from trtspec.serve.service import Service


def application(service: Service) -> Door:
    """Make the application of a service whose engine was started."""
    routes = Routes(service)
    router = Router(
        [
            Route("/v1/chat/completions", routes.chat, methods=["POST"]),
            Route("/v1/completions", routes.completion, methods=["POST"]),
            Route("/v1/models", routes.models, methods=["GET"]),
            Route("/v1/models/{model:path}", routes.model, methods=["GET"]),
            Route("/health", routes.health, methods=["GET"]),
            Route("/ready", routes.ready, methods=["GET"]),
            Route("/metrics", routes.metrics, methods=["GET"]),
            Route("/openapi.json", routes.openapi, methods=["GET"]),
        ],
        redirect_slashes=False,
    )
    return Door(
        router,
        service.keys,
        service.phase,
        service.log,
        service.metrics,
        service.own_key,
        BodyRoom(service.limits.held_bytes),
    )
