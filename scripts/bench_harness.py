"""Measures the measuring tool itself, in one run, with all its conditions.

(a) Our client against a local mock server at 256 concurrent streams: requests per
    second beside those of AIPerf 0.13 on the same server, in turns. Once with answers
    that come as a model's would, once as fast as the server can send them.
(b) How far TTFT and TPOT at 64 streams are from the server's own send times.
(c) What measuring costs in process: throughput of the off arm under bench against the
    bare loop that submits and advances, in turns.

    python scripts/bench_harness.py [--aiperf VENV] [--json FILE]

AIPerf needs a virtual environment of its own: pip install aiperf==0.13.0 (Python 3.11
or newer). Run this alone on the machine: client and server share its cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from harness import aiperf, client
from harness.server import Size, Stream, mock_server, send_gap_ms

from trtspec.bench.conditions import installed_version, record_conditions
from trtspec.files import write_atomic

ROOT = Path(__file__).resolve().parent.parent
ENGINES = ROOT / "engines"
PROMPTS = ROOT / "recipes/workloads/chat.jsonl"
STREAMS = {
    "paced": Stream(tokens=64, first_ms=100, gap_ms=20),
    "unpaced": Stream(tokens=64, first_ms=0, gap_ms=0),
}
ACCURACY = Stream(tokens=64, first_ms=50, gap_ms=20)


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", choices=("a", "b", "c"), action="append", help="one part; repeatable")
    add("--aiperf", type=Path, help="program, or its virtual environment")
    add("--tokenizer", help="local directory for AIPerf; that of the artifact if unset")
    add("--requests", type=int, default=2048, help="of (a), each time")
    add("--concurrency", type=int, default=256, help="of (a)")
    add("--repeats", type=int, default=3, help="turns of (a)")
    add("--accuracy-requests", type=int, default=512, help="of (b)")
    add("--accuracy-streams", type=int, default=64, help="of (b)")
    add("--artifact", type=Path, help="of (c); a SmolLM2 in engines/ if unset")
    add("--overhead-repeats", type=int, default=5, help="turns of (c)")
    add("--overhead-concurrency", type=int, default=4, help="of (c)")
    add("--overhead-prompts", type=int, default=8, help="of (c)")
    add("--overhead-tokens", type=int, default=64, help="of (c), each prompt")
    add("--json", type=Path, help="file for all figures and their conditions")
    return parser.parse_args(arguments)


def artifact_path(options: argparse.Namespace) -> Path | None:
    """Give the artifact of (c): one that speculates, so that it has an off arm."""
    if options.artifact:
        named: Path = options.artifact
        return named
    found = sorted(ENGINES.glob("smollm2-135m-ngram-*"))
    return found[0] if found else None


def throughput(options: argparse.Namespace) -> dict[str, Any]:
    """Measure (a)."""
    program = aiperf.find_aiperf(options.aiperf)
    artifact = artifact_path(options)
    tokenizer = options.tokenizer or (
        str(artifact / "target") if artifact else "builtin"
    )
    if program is None:
        print("(a) AIPerf is not here, so only our own client is measured")
    found: dict[str, Any] = {
        "requests": options.requests,
        "concurrency": options.concurrency,
        "aiperf": aiperf.version(program) if program else None,
    }
    for name, stream in STREAMS.items():
        found[name] = _turns(options, stream, program, tokenizer)
        _print_throughput(options, name, stream, found[name])
    return found


def _turns(
    options: argparse.Namespace, stream: Stream, program: Path | None, tokenizer: str
) -> dict[str, Any]:
    """Measure both clients in turns on one server; the order changes each time."""
    size = Size(options.requests, options.concurrency, stream.tokens)
    taken: dict[str, list[dict[str, float]]] = {"ours": [], "aiperf": []}
    with mock_server(stream) as server:
        client.throughput(server, size._replace(requests=size.concurrency))  # warm-up
        for turn in range(options.repeats):
            order = ["ours", "aiperf"] if turn % 2 == 0 else ["aiperf", "ours"]
            for who in order:
                if who == "ours":
                    row = client.throughput(server, size)
                elif program is not None:
                    row = aiperf.throughput(program, server, size, tokenizer)
                else:
                    continue
                taken[who].append(row)
                log(f"(a) {who}: {row}")
    found: dict[str, Any] = {
        **taken,
        "server_limit": stream.at_most(options.concurrency),
    }
    for how in ("seen_by_server", "told"):
        if taken["aiperf"]:
            found[f"ratio_{how}"] = _median(taken["ours"], how) / _median(
                taken["aiperf"], how
            )
    return found


def _median(rows: list[dict[str, float]], key: str) -> float:
    return statistics.median(row[key] for row in rows)


def _print_throughput(
    options: argparse.Namespace, name: str, stream: Stream, found: dict[str, Any]
) -> None:
    print(
        f"(a) {name}: {options.requests} requests, {options.concurrency} at a time, "
        f"{stream.words}"
    )
    if found["server_limit"] < float("inf"):
        print(f"    no client can exceed {found['server_limit']:.1f} requests/s")
    for who in ("ours", "aiperf"):
        if rows := found[who]:
            every = ", ".join(f"{row['seen_by_server']:.1f}" for row in rows)
            print(
                f"    {who:6}: {_median(rows, 'seen_by_server'):.1f} requests/s by the "
                f"server's clock ({every}); {_median(rows, 'told'):.1f} by its own"
            )
    if "ratio_told" in found:
        print(
            f"    ours / AIPerf: {found['ratio_seen_by_server']:.3f} by the server's "
            f"clock, {found['ratio_told']:.3f} by their own"
        )


def accuracy(options: argparse.Namespace) -> dict[str, Any]:
    """Measure (b)."""
    streams, requests = options.accuracy_streams, options.accuracy_requests
    size = Size(requests, streams, ACCURACY.tokens)
    with mock_server(ACCURACY) as server:
        client.send(server, size._replace(requests=streams))  # warm-up
        server.log()
        result = client.send(server, size)
        noted = server.log()
    found = {
        "streams": streams,
        "requests": requests,
        "server_gap_ms": send_gap_ms(noted),
        "errors_ms": client.errors(result, noted),
    }
    print(f"(b) {requests} requests, {streams} at a time, {ACCURACY.words}")
    print(f"    the server really sent one every {found['server_gap_ms']:.2f} ms")
    for metric, spread in found["errors_ms"].items():
        print(
            f"    {metric.upper()} error: median {spread['median']:.3f} ms, p95 "
            f"{spread['p95']:.3f}, most {spread['most']:.3f}; signed median "
            f"{spread['median_signed']:+.3f}"
        )
    return found


def overhead(options: argparse.Namespace) -> dict[str, Any] | None:
    """Measure (c)."""
    path = artifact_path(options)
    if path is None:
        print("(c) skipped: no SmolLM2 in engines/; see scripts/quickstart.sh")
        return None
    # only here: they load torch
    from harness.overhead import measure_overhead

    from trtspec.build.artifact import Artifact

    found = measure_overhead(
        Artifact.open(path),
        PROMPTS,
        prompts=options.overhead_prompts,
        tokens=options.overhead_tokens,
        concurrency=options.overhead_concurrency,
        repeats=options.overhead_repeats,
        log=log,
    )
    print(
        f"(c) {found['artifact']}, off: {options.overhead_prompts} prompts of "
        f"{options.overhead_tokens} tokens, concurrency {options.overhead_concurrency}"
    )
    for name in ("bare", "bench"):
        rows = found[name]
        every = ", ".join(f"{row['tokens_per_second']:.2f}" for row in rows)
        print(
            f"    {name:5}: {_median(rows, 'tokens_per_second'):.2f} tokens/s "
            f"({every}); {_median(rows, 'outside'):.3%} of the time outside the engine"
        )
    every = ", ".join(f"{ratio:.4f}" for ratio in found["ratios"])
    print(f"    bench / bare: {found['ratio']:.4f} (each round: {every})")
    print(
        f"    as the time outside alone would have it: {found['ratio_of_inside']:.4f}"
    )
    return found


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    options = options_of(arguments)
    parts = options.only or ["a", "b", "c"]
    conditions = record_conditions({}).model_dump(mode="json")
    conditions["versions"]["aiohttp"] = installed_version("aiohttp")
    hardware = conditions["hardware"]
    print(
        f"{hardware['cpu']}, {hardware['usable_cores']} cores, "
        f"{hardware['busy_cores']} of them busy before; load average "
        f"{hardware['load_average'][0]:.2f}; Python {conditions['python']}, aiohttp "
        f"{conditions['versions']['aiohttp']}"
    )
    measured = {"a": throughput, "b": accuracy, "c": overhead}
    found = {name: measured[name](options) for name in parts}
    if options.json:
        chosen = {key: str(value) for key, value in vars(options).items()}
        document = {"conditions": conditions, "options": chosen, **found}
        write_atomic(options.json, json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
