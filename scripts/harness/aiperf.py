"""AIPerf on the mock server, as its own command line.

Flags are those of ``aiperf/config/flags/cli_config.py`` of AIPerf 0.13.0. Token counts
come from the server, prompts from a file, the tokenizer from a local directory: nothing
is fetched. What only costs time is off: its user interface, GPU telemetry and server
metrics.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.client import prompt_text
from harness.server import MockServer, Size, requests_per_second

_SECONDS = 600
_RESULT = "profile_export_aiperf.json"


def find_aiperf(named: Path | None) -> Path | None:
    """Give the program: the named one, or that on PATH; None if there is none."""
    if named is not None:
        program = named / "bin/aiperf" if named.is_dir() else named
        return program if program.exists() else None
    found = shutil.which("aiperf")
    return Path(found) if found else None


def version(program: Path) -> str:
    """Give its version, as it tells it."""
    python = program.parent / "python"
    code = "from importlib.metadata import version; print(version('aiperf'))"
    done = subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def throughput(
    program: Path, server: MockServer, size: Size, tokenizer: str
) -> dict[str, float]:
    """Give requests per second, as the server saw them and as AIPerf tells them.

    :raises RuntimeError: if it fails, or requests are missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        server.log()
        _run(program, server, size, tokenizer, Path(folder))
        told = _told(Path(folder))
        log = server.log()
    if len(log) != size.requests:
        raise RuntimeError(f"AIPerf sent {len(log)} of {size.requests} requests")
    return {"seen_by_server": requests_per_second(log), **told}


def _run(
    program: Path, server: MockServer, size: Size, tokenizer: str, folder: Path
) -> None:
    prompts = folder / "prompts.jsonl"
    lines = (json.dumps({"text": prompt_text(i)}) for i in range(size.requests))
    prompts.write_text("\n".join(lines) + "\n")
    command = [
        *(str(program), "profile", "--model", "mock-model", "--url", server.url),
        *("--endpoint-type", "chat", "--streaming"),
        *(
            "--concurrency",
            str(size.concurrency),
            "--request-count",
            str(size.requests),
        ),
        *("--input-file", str(prompts), "--custom-dataset-type", "single_turn"),
        *("--extra-inputs", f"max_tokens:{size.tokens}", "--use-server-token-count"),
        *("--tokenizer", tokenizer, "--artifact-dir", str(folder / "artifacts")),
        *("--ui", "none", "--no-gpu-telemetry", "--no-server-metrics"),
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        tail = (done.stdout + done.stderr)[-3000:]
        raise RuntimeError(f"AIPerf ended with {done.returncode}: {tail}")


def _told(folder: Path) -> dict[str, float]:
    """Read AIPerf's own figures."""
    (file,) = folder.rglob(_RESULT)
    result = json.loads(file.read_text())
    found = {"told": float(result["request_throughput"]["avg"])}
    for name in ("time_to_first_token", "inter_token_latency"):
        if name in result:
            found[f"{name}_p50_ms"] = float(result[name]["p50"])
    return found
