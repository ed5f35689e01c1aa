"""How does the server start, and how does it end?"""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from packaging.version import Version

from tests.standins.llm import members
from tests.standins.machine import Machine
from tests.standins.serving import failing
from tests.standins.serving.command import CommandLine, parse
from tests.standins.serving.endpoints import Endpoints
from tests.standins.serving.http import HttpServer
from tests.standins.voice import say
from trtspec.trtllm.facts import families

KEYS = {
    "--tp_size": "tensor_parallel_size",
    "--pp_size": "pipeline_parallel_size",
    "--ep_size": "moe_expert_parallel_size",
    "--cluster_size": "moe_cluster_parallel_size",
    "--gpus_per_node": "gpus_per_node",
    "--max_batch_size": "max_batch_size",
    "--max_num_tokens": "max_num_tokens",
    "--max_seq_len": "max_seq_len",
    "--max_beam_width": "max_beam_width",
    "--tokenizer": "tokenizer",
    "--trust_remote_code": "trust_remote_code",
    "--revision": "revision",
    "--enable_chunked_prefill": "enable_chunked_prefill",
    "--enable_attention_dp": "enable_attention_dp",
    "--num_postprocess_workers": "num_postprocess_workers",
    "--reasoning_parser": "reasoning_parser",
    "--context_parallel_size": "context_parallel_size",
}
FRACTION = "--kv_cache_free_gpu_memory_fraction"
WHOLE = {"--ep_size", "--cluster_size", "--gpus_per_node"}
WORKER_SECONDS = "300"
"""So long a worker lives that nobody ends."""


def main(version: str, root: str) -> int:
    """Run the server until it is told to stop."""
    machine, family = Machine(Path(root)), str(families.family_of(Version(version)))
    machine.record("trtllm-serve", "serve", sys.argv[1:])
    line = parse(sys.argv[1:], Version(version))
    say(f"[TensorRT-LLM] TensorRT-LLM version: {version}")
    failure = failing.wanted(machine)
    host, port = line.get("--host", "localhost"), line.get("--port", 8000)
    listening = _bind(host, port, failure)
    arguments = read_arguments(line, family)
    if failure.name == "refuse_key":
        failing.end(
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for "
            f"TorchLlmArgs\n{failure.value}\n  Extra inputs are not permitted"
        )
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    worker = subprocess.Popen(["sleep", WORKER_SECONDS], **silent)
    machine.note("worker", worker=worker.pid)
    try:
        failure.before_loading()
        llm = members(version, root)["LLM"](line.model, **arguments)
        endpoints = Endpoints(llm, line, version, machine=machine, failure=failure)
        asyncio.run(_serve(listening, endpoints, failure, machine))
    except Exception as error:  # noqa: BLE001 - as any unhandled error looks
        failing.end(f"{type(error).__name__}: {error}")
    finally:
        if failure.name != "worker_outlives":
            worker.kill()
            worker.wait()
    return 0


def read_arguments(line: CommandLine, family: str) -> dict[str, Any]:
    """Arguments of the LLM: flags and YAML; flags win on main, the YAML before."""
    given = {
        key: int(line.flags[flag]) if flag in WHOLE else line.flags[flag]
        for flag, key in KEYS.items()
        if flag in line.flags
    }
    if FRACTION in line.flags:
        fraction = float(line.flags[FRACTION])
        given["kv_cache_config"] = {"free_gpu_memory_fraction": fraction}
    document: dict[str, Any] = {}
    if path := line.get("--extra_llm_api_options"):
        import yaml

        document = yaml.safe_load(Path(path).read_text()) or {}
    if family == "main":
        return {**document, **given}
    return {**given, **document}


def _bind(host: str, port: int, failure: failing.Failure) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # without SO_REUSEADDR, as launch_server in tensorrt_llm/commands/serve.py
    try:
        if failure.name == "port_in_use":
            raise OSError(98, "Address already in use")
        listening.bind((host, port))
    except OSError as error:
        failing.end(f"RuntimeError: Failed to bind socket to {host}:{port}: {error}")
    return listening


async def _serve(
    listening: socket.socket, endpoints: Endpoints, failure: Any, machine: Machine
) -> None:
    server, stop = HttpServer(endpoints.answer), asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        hangs = failure.name == "hang_on_term" and name is signal.SIGTERM
        loop.add_signal_handler(name, (lambda: None) if hangs else stop.set)
    await server.start(listening)
    host, port = listening.getsockname()
    machine.note("listening", host=host, port=port)
    say("INFO:     Application startup complete.")
    say(f"INFO:     Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)")
    await stop.wait()
    say("INFO:     Shutting down")
    await server.drain()
    endpoints.llm.shutdown()
    say("INFO:     Application shutdown complete.")
