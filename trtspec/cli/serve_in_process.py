"""How an artifact is served by an engine in this process."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import click

import trtspec
from trtspec.build.artifact import Artifact
from trtspec.build.progress import Progress
from trtspec.cli.json_output import print_line
from trtspec.cli.runners import runner_for
from trtspec.cli.serve_canary import Looked, canary_words, look_at_server
from trtspec.cli.unheard import unheard
from trtspec.methods import lossy_reason
from trtspec.run import Runner
from trtspec.run.recipe_runner import RecipeRunner
from trtspec.run.tokens import TextCodec
from trtspec.serve.engine import EngineThread
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.http.server import listen
from trtspec.serve.in_process import Course, serve
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import Identity
from trtspec.serve.service import Service
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.example import curl_command, has_chat_template
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest

if TYPE_CHECKING:
    from trtspec.verify.canary import CanaryResult


@dataclass(frozen=True, slots=True)
class Wish:
    """How an artifact is to be served.

    :param device: a torch device, for backend reference.
    :param grace: seconds that requests in flight get at the end.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    device: str | None = None
    threads: int | None = None
    grace: float = 30.0
    canary: bool = True
    as_json: bool = False
    limits: ServeLimits = field(default_factory=ServeLimits)
    keys: ApiKeys = field(default_factory=ApiKeys)
    log: RequestLog = field(default_factory=lambda: RequestLog(None))


def serve_in_process(
    artifact: Artifact,
    wish: Wish,
    engine: EngineThread,
    stop: StopRequest,
    progress: Progress,
) -> None:
    """Load an artifact and serve it until an end is asked for.

    :param engine: the only thread that computes.
    :raises TrtspecError: if the port is taken, the artifact cannot be loaded, the
        canary fails, or the engine breaks.
    """
    taken = listen(wish.host, wish.port)
    with closing(taken):
        runner = engine.call(
            partial(
                runner_for,
                artifact,
                device=wish.device,
                threads=wish.threads,
                progress=progress,
            )
        )
        assert isinstance(runner, RecipeRunner), "all backends' runners are"
        service = service_of(artifact, runner, runner.codec, wish, engine)
        address = Address(wish.host, taken.getsockname()[1])
        came = _Arrival(artifact, service, address, wish, progress)
        course = Course(
            check=came.look if wish.canary else lambda: None,
            came_up=came.tell,
            stops=lambda: stop.times,
            say=progress.line,
            grace=wish.grace,
        )
        serve(service, taken, course)


def service_of(
    artifact: Artifact,
    runner: Runner,
    codec: TextCodec,
    wish: Wish,
    engine: EngineThread | None = None,
) -> Service:
    """Make the service of a loaded artifact."""
    recipe = artifact.recipe
    method = recipe.speculation
    identity = Identity(
        version=trtspec.__version__,
        backend=recipe.backend,
        method=method.method,
        artifact=artifact.name,
        fingerprint=artifact.fingerprint,
        draft_length=str(getattr(method, "draft_length", "")),
    )
    return Service(
        recipe.name,
        recipe,
        identity,
        codec,
        runner,
        limits=wish.limits,
        keys=wish.keys,
        log=wish.log,
        thread=engine,
    )


@dataclass
class _Arrival:
    """What is done when the server answers, and said when it is ready."""

    artifact: Artifact
    service: Service
    address: Address
    wish: Wish
    progress: Progress
    canary: CanaryResult | None = None

    def look(self) -> None:
        """Be the canary."""
        self.canary = look_at_server(
            self.artifact,
            Looked(
                self.address.url,
                self.service.name,
                f"Bearer {self.service.own_key}",
                has_chat_template(self.artifact),
            ),
        )

    def tell(self) -> None:
        """Say where it is served."""
        for reason in lossy_reasons(self.artifact):
            self.progress.line(f"WARNING: lossy output: {reason}")
        for line in canary_words(self.canary) if self.canary else ():
            self.progress.line(line)
        if self.wish.as_json:
            unheard(print_line)(json.dumps(self._document()))
        else:
            unheard(click.echo)(self._greeting())

    def _document(self) -> dict[str, object]:
        found = self.canary
        return {
            "url": self.address.url,
            "model": self.service.name,
            "artifact": self.artifact.name,
            "lossy": lossy_reasons(self.artifact),
            "canary": found.model_dump(mode="json") if found else None,
        }

    def _greeting(self) -> str:
        url, model = self.address.url, self.service.name
        example = curl_command(self.artifact, url, model)
        mark = " (lossy: see the warning above)" if lossy_reasons(self.artifact) else ""
        return f"{self.artifact.name} is served at {url}{mark}\n  {example}"


def lossy_reasons(artifact: Artifact) -> list[str]:
    """Say why outputs of an artifact need not be the target's own; none if they are."""
    recipe, version = artifact.recipe, None
    if recipe.backend != "reference":
        from trtspec.trtllm.probe import probe

        version = probe().version
    reasons = (
        lossy_reason(recipe.speculation, recipe.backend, version, sampled=sampled)
        for sampled in (False, True)
    )
    return list(dict.fromkeys(filter(None, reasons)))
