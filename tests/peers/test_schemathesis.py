"""schemathesis against the published OpenAPI document of a server of a toy.

It is not among the project's dependencies: ``pip install schemathesis``. So many
examples of every operation as TRTSPEC_FAULTS says, or a few.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reference.artifacts import write_model
from tests.serve.faults.rig import MANY, require_empty, say, toy_server
from trtspec.serve.http import routes
from trtspec.serve.openai.document import openapi

pytest.importorskip("schemathesis")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
KEY = "sk-of-the-test"


def run(url, *options):
    """Run all checks; what it said and whether it found nothing."""
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"),
        *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
        *("--phases", "examples,coverage,fuzzing,stateful"),
        *("--max-examples", str(MANY or 10), "--seed", "1", "--no-color"),
        *options,
    ]
    hooks = {"SCHEMATHESIS_HOOKS": "tests.peers.schemathesis_hooks"}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | hooks | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=None if MANY else 400,
    )


def require_nothing_found(done, service):
    say(done.stdout[-1500:])
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    tested = re.search(r"Tested: (\d+)", done.stdout)
    paths = json.loads(openapi(service))["paths"]
    # all but the one that it read the document from
    assert int(tested[1]) == sum(map(len, paths.values())) - 1
    assert "what_fits" not in done.stderr


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("schemathesis") / "target")


def test_it_finds_nothing(model):
    with toy_server(model, keys=[KEY]) as (server, runner):
        done = run(server.url, "-H", f"Authorization: Bearer {KEY}")
        require_nothing_found(done, server.service)
        require_empty(server, runner)
    assert server.error is None
    assert not [line for line in server.lines if '"outcome": "failed"' in line]


def test_it_finds_nothing_without_keys(model):
    with toy_server(model, max_batch_size=2) as (server, _):
        done = run(server.url, "--workers", "4")
        require_nothing_found(done, server.service)


def test_it_would_find_a_server_that_says_what_it_does_not_do(model, monkeypatch):
    """The negative control: a document that promises what is refused."""

    def boasting(service):
        document = json.loads(openapi(service))
        fields = document["components"]["schemas"]["CompletionRequest"]["properties"]
        number = next(c for c in fields["top_k"]["anyOf"] if c["type"] == "integer")
        number["maximum"] = 10**9
        return json.dumps(document)

    monkeypatch.setattr(routes, "openapi", boasting)
    with toy_server(model) as (server, _):
        done = run(server.url, "--include-path", "/v1/completions")
    assert done.returncode == 1
    assert "Valid data should have been accepted" in done.stdout
