"""schemathesis against the OpenAPI document of the front of trtllm-serve.

As tests/peers/test_schemathesis.py; behind the front is a server that answers whatever
it is asked. What values a field may have the document leaves to the server's release,
so that a refusal of a value is not a finding.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from aiohttp import web

from tests.serve.faults.rig import MANY, say
from tests.serve.proxy.rig import FakeServer, front, run
from trtspec.serve.proxy import routes
from trtspec.serve.proxy.document import openapi
from trtspec.serve.proxy.pool import OFF, ON

pytest.importorskip("schemathesis")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-of-the-test"
REFUSED = "positive_data_acceptance"
REFUSAL = {"object": "error", "type": "BadRequestError", "param": None, "code": 400}


class Server(FakeServer):
    """Answers all that has what the release requires."""

    async def answer(self, request):
        body = await request.json()
        needed = "messages" if "chat" in request.path else "prompt"
        if needed not in body:
            document = REFUSAL | {"message": f"{needed}: Field required"}
            return web.json_response(document, status=400)
        return await super().answer(request)


async def checked(url, *options):
    """Run all checks but one; exit code and output."""
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
        *("--checks", "all", "--exclude-checks", REFUSED),
        *("--phases", "examples,coverage,fuzzing,stateful"),
        *("--max-examples", str(MANY or 10), "--seed", "1", "--no-color"),
        *("-H", f"Authorization: Bearer {KEY}", *options),
    ]
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    return process.returncode, output.decode()


@run
async def test_it_finds_nothing():
    async with (
        Server().running() as on,
        Server().running() as off,
        front({ON: on, OFF: off}, keys=[KEY]) as there,
    ):
        code, said = await checked(there.url)
        say(said[-1500:])
        assert code == 0, said[-6000:]
        count = re.search(r"Tested: (\d+)", said)
        paths = json.loads(openapi(there.service))["paths"]
        assert int(count[1]) == sum(map(len, paths.values())) - 1
        assert len(on.asked) > 50
        assert not there.service.pools[ON].admission.inside


@run
async def test_it_would_find_an_answer_that_is_not_in_the_document(monkeypatch):
    """The negative control."""

    def silent(service):
        document = json.loads(openapi(service))
        del document["paths"]["/v1/completions"]["post"]["responses"]["400"]
        return json.dumps(document)

    monkeypatch.setattr(routes, "openapi", silent)
    async with Server().running() as on, front({ON: on}, keys=[KEY]) as there:
        code, said = await checked(there.url, "--include-path", "/v1/completions")
    assert code == 1
    assert "Undocumented status code" in said, said[-3000:]
