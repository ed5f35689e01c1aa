"""Measures the server: against the bare runner, and against ``transformers serve``.

(a) Throughput over HTTP, streamed, at concurrency 8, against the runner in one process
    with nothing around it, in turns; SmolLM2 with n-gram drafts. Goal: at least 0.95.
(b) Against ``transformers serve``, same model directory, type and prompts, at
    concurrency 1 and 8, in turns: with speculation on (goal: at least 1.2) and off, by
    request (goal: at least 1.0).

Both with greedy decoding up to the same number of tokens. Tokens are counted by the
model's tokenizer over the text that came, for all alike; how many texts are the same
is told.

    python scripts/bench_serve.py [--transformers PYTHON] [--json FILE]

(b) needs a Python with transformers[serving]. Run it alone on the machine: servers and
client share its cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from serve_bench.bare import run_bare
from serve_bench.load import Taken, Target, send
from serve_bench.servers import ours, transformers_serve
from tokenizers import Tokenizer

from trtspec.bench.conditions import installed_version, record_conditions
from trtspec.build.artifact import Artifact
from trtspec.files import write_atomic
from trtspec.recipe import load_prompts

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = ROOT / "recipes/workloads"
Way = Callable[[Sequence[str], int], Taken]
"""Runs prompts, so many at once."""


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--artifact", type=Path, help="a SmolLM2 n-gram one in engines/ if unset")
    add("--only", choices=("a", "b"), action="append", help="one part; repeatable")
    add("--transformers", type=Path, help="Python with transformers[serving]")
    add("--transformers-option", action="append", default=[], help="such as --x=y")
    add("--workloads", default="code,extract,summarize", help="of the bundled ones")
    add("--limit", type=int, default=8, help="prompts of each workload")
    add("--tokens", type=int, default=48, help="most output tokens")
    add("--repeats", type=int, default=5, help="turns")
    add("--threads", type=int, default=2, help="of each engine")
    add("--json", type=Path, help="write all samples there")
    return parser.parse_args(arguments)


def main() -> int:
    """Run both parts, and print what came out."""
    options = options_of()
    path = options.artifact or _usual_artifact()
    artifact = Artifact.open(path)
    names = options.workloads.split(",")
    prompts = [
        prompt.messages[-1]["content"]
        for name in names
        for prompt in load_prompts(WORKLOADS / f"{name}.jsonl")[: options.limit]
    ]
    count = _counter(artifact)
    parts = options.only or ["a", "b"]
    result: dict[str, Any] = {
        "artifact": path.name,
        "dtype": artifact.recipe.target.dtype,
        "prompts": len(prompts),
        "tokens": options.tokens,
        "threads": options.threads,
        "conditions": record_conditions({}).model_dump(mode="json"),
    }
    with tempfile.TemporaryFile("w+") as server_log, ExitStack() as stack:
        stack.push(_telling(server_log))
        url, model = stack.enter_context(ours(path, options.threads, server_log))
        on = Target("on", url, model)
        off = Target("off", url, model, (("speculation", {"enabled": False}),))
        if "a" in parts:
            result["a"] = part_a(artifact, on, prompts, count, options)
        if "b" in parts and options.transformers:
            peer_url, peer_model = stack.enter_context(
                transformers_serve(
                    options.transformers,
                    artifact.target.resolve(),
                    artifact.recipe.target.dtype,
                    server_log,
                    threads=options.threads,
                    options=options.transformers_option,
                )
            )
            peer = Target("transformers", peer_url, peer_model)
            result["b"] = part_b((on, off, peer), prompts, count, options)
    if options.json:
        write_atomic(options.json, json.dumps(result, indent=1) + "\n")
    return 0


def _telling(server_log: IO[str]) -> Callable[..., None]:
    """Show the end of the servers' log if something fails."""

    def tell(kind: object, *_: object) -> None:
        if kind is not None:
            server_log.seek(0)
            log(server_log.read()[-3000:])

    return tell


def part_a(
    artifact: Artifact,
    on: Target,
    prompts: Sequence[str],
    count: Callable[[Taken], int],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Compare with the bare runner."""
    from trtspec.reference.runner import open_runner

    runner = open_runner(artifact, threads=options.threads)
    ways: dict[str, Way] = {
        "bare": lambda p, c: run_bare(runner, p, options.tokens, c),
        "http": lambda p, c: send(on, p, options.tokens, c),
    }
    try:
        found = _turns(ways, prompts, 8, count, options.repeats)
    finally:
        runner.close()
    _tell("(a) concurrency 8, HTTP / bare", found, "http", "bare", 0.95)
    return found


def part_b(
    targets: Sequence[Target],
    prompts: Sequence[str],
    count: Callable[[Taken], int],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Compare with transformers serve."""
    found = {}
    ways: dict[str, Way] = {
        target.name: lambda p, c, t=target: send(t, p, options.tokens, c)  # type: ignore[misc]
        for target in targets
    }
    for concurrency in (1, 8):
        # one at a time takes long: a third of the prompts, of each workload some
        chosen = prompts if concurrency > 1 else prompts[::3]
        turns = _turns(ways, chosen, concurrency, count, options.repeats)
        for name, goal in (("on", 1.2), ("off", 1.0)):
            title = f"(b) concurrency {concurrency}, {name} / transformers serve"
            _tell(title, turns, name, "transformers", goal)
        found[str(concurrency)] = turns
    print(f"transformers {installed_version('transformers')}")
    return found


def _turns(
    ways: dict[str, Way],
    prompts: Sequence[str],
    concurrency: int,
    count: Callable[[Taken], int],
    repeats: int,
) -> dict[str, Any]:
    """Run all ways in turns, after a warm-up; which is first changes."""
    names = list(ways)
    texts: dict[str, tuple[str, ...]] = {}
    rates: dict[str, list[float]] = {name: [] for name in names}
    for name in names:
        texts[name] = ways[name](prompts[:concurrency], concurrency).texts
    for turn in range(repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            taken = ways[name](prompts, concurrency)
            texts[name] = taken.texts
            rates[name].append(count(taken) / taken.seconds)
            log(f"turn {turn + 1}/{repeats}, {name}: {rates[name][-1]:.1f} tokens/s")
    same = {
        name: sum(a == b for a, b in zip(texts[name], texts[names[-1]], strict=True))
        for name in names
    }
    return {"tokens_per_second": rates, "same_texts_as_last": same, "of": len(prompts)}


def _tell(title: str, found: dict[str, Any], name: str, base: str, goal: float) -> None:
    rates = found["tokens_per_second"]
    ratios = [a / b for a, b in zip(rates[name], rates[base], strict=True)]
    found[f"{name}/{base}"] = ratios
    middle = statistics.median(ratios)
    spread = f"[{min(ratios):.2f}, {max(ratios):.2f}]"
    each = ", ".join(f"{n} {statistics.median(r):.1f}" for n, r in rates.items())
    same = found["same_texts_as_last"][name]
    print(
        f"{title}: {middle:.3f} {spread} (goal {goal:g}); tokens/s: {each}; "
        f"{same} of {found['of']} texts the same",
        flush=True,
    )


def _counter(artifact: Artifact) -> Callable[[Taken], int]:
    tokenizer = Tokenizer.from_file(str(artifact.target / "tokenizer.json"))

    def count(taken: Taken) -> int:
        return sum(
            len(tokenizer.encode(text, add_special_tokens=False).ids)
            for text in taken.texts
        )

    return count


def _usual_artifact() -> Path:
    found = sorted((ROOT / "engines").glob("smollm2-135m-ngram-*"))
    if not found:
        log("build one first: trtspec build recipes/smollm2-135m/ngram.yaml")
        raise SystemExit(2)
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
