"""Starts the servers that are compared, and ends them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

START_SECONDS = 300.0


@contextmanager
def ours(artifact: Path, threads: int, log: IO[str]) -> Iterator[tuple[str, str]]:
    """Serve an artifact with ``trtspec serve``; gives its address and model.

    :raises RuntimeError: if it does not start.
    """
    command = [
        *(sys.executable, "-m", "trtspec", "serve", str(artifact), "--port", "0"),
        *("--json", "--no-canary", "--no-request-log", "--threads", str(threads)),
    ]
    with _running(command, threads, log, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("trtspec serve did not start; see the log")
        told = json.loads(line)
        yield told["url"], told["model"]


@contextmanager
def transformers_serve(
    python: Path,
    model: Path,
    dtype: str,
    log: IO[str],
    *,
    threads: int,
    options: Sequence[str],
) -> Iterator[tuple[str, str]]:
    """Serve a model directory with ``transformers serve`` on the CPU.

    :raises RuntimeError: if it does not start.
    """
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        named = _with_architecture(model, Path(folder))
        command = [
            *(str(python), "-m", "transformers.cli.transformers", "serve", named),
            *("--host", "127.0.0.1", "--port", str(port), "--device", "cpu"),
            *("--dtype", dtype, *options),
        ]
        url = f"http://127.0.0.1:{port}"
        with _running(command, threads, log) as process:
            _wait(process, f"{url}/health", f"{url}/v1/models")
            yield url, named


def _with_architecture(model: Path, folder: Path) -> str:
    """Link a model's files, with what ``transformers serve`` wants in its config."""
    for path in model.iterdir():
        if path.name != "config.json":
            (folder / path.name).symlink_to(path)
    config = json.loads((model / "config.json").read_text())
    config.setdefault("architectures", ["LlamaForCausalLM"])
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


@contextmanager
def _running(
    command: Sequence[str], threads: int, log: IO[str], stdout: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(
        command, env=environment, stdout=stdout or log, stderr=log, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[str], *urls: str) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        for url in urls:
            try:
                with urllib.request.urlopen(url, timeout=5) as reply:
                    if reply.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                continue
        time.sleep(0.5)
    raise RuntimeError("the server did not start; see the log")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
