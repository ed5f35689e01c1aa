"""A running ``trtllm-serve``, for the tests of the stand-in."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.standins import StandIn
from tests.standins.llm.samples import checkpoint, standin


@dataclass
class Served:
    """A server with its installation.

    :ivar process: its standard output and error are one pipe.
    """

    standin: StandIn
    process: Any
    client: httpx.Client

    def complete(self, prompt: Any, tokens: int = 20, **rest: Any) -> Any:
        """A greedy completion; the answer."""
        return self.client.post("/v1/completions", json=body(prompt, tokens, **rest))

    def stream(self, prompt: Any, tokens: int = 20, **rest: Any) -> list[Any]:
        """The documents of a greedy streamed completion."""
        asked = body(prompt, tokens, stream=True, **rest)
        with self.client.stream("POST", "/v1/completions", json=asked) as answer:
            lines = [line[6:] for line in answer.iter_lines() if line]
        assert lines.pop() == "[DONE]"
        return [json.loads(line) for line in lines]

    def stop(self) -> int:
        """End it as an operator does; its exit code."""
        self.process.terminate()
        code = self.process.wait(20)
        self.client.close()
        self.process.stdout.close()
        return code


def body(prompt: Any, tokens: int = 20, **rest: Any) -> dict[str, Any]:
    settled = {"temperature": 0, "ignore_eos": True}
    return {"model": "hf", "prompt": prompt, "max_tokens": tokens, **settled, **rest}


def start(
    folder: Path, version: str, document: dict[str, Any], *flags: str, fail: str = ""
) -> tuple[StandIn, Any]:
    """Start a server on a free port; it need not become ready."""
    made = standin(folder, version, fail=fail or None)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "llm_args.yaml").write_text(yaml.safe_dump(document))
    given = ("--backend", "pytorch", "--host", "127.0.0.1", "--port", "0")
    options = ("--extra_llm_api_options", "llm_args.yaml")
    process = subprocess.Popen(
        ["trtllm-serve", str(checkpoint()), *given, *options, *flags],
        env={**made.environment(), "OMP_NUM_THREADS": "1"},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return made, process


def serve(
    folder: Path, version: str, document: dict[str, Any], *flags: str, fail: str = ""
) -> Served:
    """Start a server and wait until it listens."""
    made, process = start(folder, version, document, *flags, fail=fail)
    until = time.monotonic() + 30
    while not (listening := made.events("listening")):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < until
        time.sleep(0.01)
    address = f"http://127.0.0.1:{listening[0]['port']}"
    return Served(made, process, httpx.Client(base_url=address, timeout=30))
