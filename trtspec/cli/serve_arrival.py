"""What is done when a server behind the front comes up, and said when all are."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from typing import Any

import click

from trtspec.build.progress import Progress
from trtspec.cli.json_output import print_line
from trtspec.cli.serve_canary import Looked, canary_words, look_at_server
from trtspec.cli.serve_greeting import send_canary
from trtspec.cli.serve_words import Caveats, canary_lines
from trtspec.cli.unheard import unheard
from trtspec.errors import RunError, VerificationError
from trtspec.serve.proxy.pool import Pool, PoolName
from trtspec.serve.proxy.service import ProxyService
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.canary import Canary
from trtspec.trtllm.pytorch.launch.example import curl_command, has_chat_template
from trtspec.trtllm.pytorch.launch.lossy import lossy_warnings
from trtspec.trtllm.pytorch.launch.server import Server
from trtspec.trtllm.pytorch.run.controls import unhonoured
from trtspec.verify.canary import CanaryResult
from trtspec.verify.canary.record import CheckName

KNOWN: tuple[CheckName, ...] = ("stop strings",)
"""TensorRT-LLM looks for a stop string as the tokens that it has by itself, and misses
it where the output's tokens are others; clients get texts that the front has cut
(trtspec/serve/proxy/stopping.py), and the canary asks the server itself."""


class Arrival:
    """Collects what the servers' threads found, and tells it when all are ready.

    :param artifacts: by pool.
    :param address: that clients use.
    """

    def __init__(
        self,
        artifacts: Any,
        service: ProxyService,
        address: Address,
        as_json: bool,
        progress: Progress,
    ) -> None:
        self.artifacts, self.progress = artifacts, progress
        self._service, self._address, self._as_json = service, address, as_json
        self._lock = threading.Lock()
        self._servers: dict[PoolName, dict[str, object]] = {}
        self.canaries: dict[PoolName, tuple[Canary, CanaryResult]] = {}
        self.caveats = {pool.name: caveats_of(pool) for pool in service.pools.values()}

    def tell_caveats(self) -> None:
        """Say what clients must know, before anything is started."""
        for pool in self._service.pools.values():
            caveats = self.caveats[pool.name]
            allowed = pool.screen.recipe.speculation.lossy_allowed
            refused = "" if allowed else "refused, as it would be "
            for text in caveats.lossy:
                self.progress.line(f"WARNING: {refused}{text}")
            for text in caveats.unhonoured:
                self.progress.line(f"refused or warned of in requests: {text}")

    def pass_over(self, pool: Pool, server: Server) -> None:
        """Look at nothing."""

    def came_up(self, pool: Pool, server: Server) -> None:
        """Note a server that is ready; say so when all of them are."""
        with self._lock:
            self._servers[pool.name] = self._describe(pool, server)
            if all(each.ready for each in self._service.pools.values()):
                self._tell()

    def _describe(self, pool: Pool, server: Server) -> dict[str, object]:
        caveats = self.caveats[pool.name]
        document: dict[str, object] = {
            "model": pool.model,
            "pid": server.pid,
            "log": str(server.log),
            "lossy": list(caveats.lossy),
            "unhonoured": list(caveats.unhonoured),
            "canary": None,
        }
        if pool.name in self.canaries:
            first, found = self.canaries[pool.name]
            checks = found.model_dump(mode="json")
            document["canary"] = asdict(first) | {"checks": checks}
        return document

    def _tell(self) -> None:
        main, artifacts = self._service.main, self.artifacts
        url = self._address.url
        if self._as_json:
            document = {"url": url, **self._servers[main.name], "pools": self._servers}
            unheard(print_line)(json.dumps(document))
            return
        artifact = artifacts[main.name]
        lossy = any(caveats.lossy for caveats in self.caveats.values())
        mark = " (lossy: see the warning above)" if lossy else ""
        example = curl_command(artifact, url, main.model)
        unheard(click.echo)(f"{artifact.name} is served at {url}{mark}\n  {example}")


def caveats_of(pool: Pool) -> Caveats:
    """Say which requests of a pool are lossy or not honoured."""
    recipe, version = pool.screen.recipe, pool.screen.version
    return Caveats(lossy_warnings(recipe, version), unhonoured(recipe, version))


def look(arrival: Arrival, pool: Pool, server: Server) -> None:
    """Be the canary of a server: one request, then the checks of ``trtspec verify``.

    :raises RunError: if it fails, or the server ends meanwhile.
    :raises Stopped: if somebody asked for an end meanwhile.
    """
    artifact, say = arrival.artifacts[pool.name], arrival.progress.line
    first = send_canary(artifact, server)
    for line in canary_lines(artifact, first):
        say(line)
    looked = Looked(server.url, pool.model, "", has_chat_template(artifact))

    def checks() -> CanaryResult:
        try:
            return look_at_server(artifact, looked, KNOWN)
        except VerificationError as error:
            # it is the server that has failed: another start may mend it
            raise RunError.from_problems(error.problems) from error

    found = server.meanwhile(checks, "in the canary")
    for line in canary_words(found):
        say(line)
    arrival.canaries[pool.name] = first, found
