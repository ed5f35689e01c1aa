"""Measures the reference engine on SmolLM2-135M-Instruct, greedy, on this machine.

With --methods: every speculation method that has a recipe in recipes/smollm2-135m
beside plain decoding, in one run in which they take turns on the same prompts; by
category of prompts acceptance length, acceptance rate, the share of the step that goes
into drafting, and output throughput as a ratio to plain decoding with its interval. It
leaves a run like that of trtspec bench, which trtspec report takes.

    python scripts/bench_reference.py --methods all [--prompts FILE] [--output DIR]

Without: how fast the engine itself is, in bfloat16 on the first prompts of the bundled
code workload:

- the share of decode wall time inside model forwards, at batch 1 and 8, on and off;
- output throughput with prompt lookup against ``transformers.generate`` with the same
  draft length and n-gram size, batch 1;
- total throughput at batch 8 against batch 1, speculation off;
- whole-process time of ``trtspec --help``, ``check`` and ``plan``.

    python scripts/bench_reference.py [--repeats 5] [--json FILE]

Run it alone on the machine: another busy process changes everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from trtspec.errors import TrtspecError
from trtspec.files import write_atomic

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = sorted((ROOT / "recipes/workloads").glob("*.jsonl"))
ENGINE_PROMPTS = 8
ENGINE_REPEATS = 5
METHOD_REPEATS = 3
BATCHES = (1, 8)


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def numbers(text: str) -> list[int]:
    """Read a list such as 1,8."""
    return [int(part) for part in text.split(",")]


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--methods", help="all, or names of recipes: ngram,eagle3")
    add("--prompts", type=Path, nargs="+", default=WORKLOADS, help="with --methods")
    add("--limit", type=int, help="prompts, with --methods of each category")
    add("--tokens", type=int, default=64, help="most output tokens per prompt")
    add("--repeats", type=int, help="blocks that count")
    add("--batches", type=numbers, default=list(BATCHES), help="with --methods")
    add("--dtype", choices=("bfloat16", "float32"), default="bfloat16")
    add("--brief", action="store_true", help="tables of all categories together only")
    add("--output", type=Path, help="directory of the run, with --methods")
    add("--json", type=Path, help="file for every sample, without --methods")
    return parser.parse_args(arguments)


def compare_methods(options: argparse.Namespace) -> None:
    """Measure and print all methods."""
    from reference_bench.comparison import Wish
    from reference_bench.comparison import compare_methods as run

    wish = Wish(
        methods=options.methods,
        files=options.prompts,
        limit=options.limit,
        tokens=options.tokens,
        repeats=options.repeats or METHOD_REPEATS,
        batches=options.batches,
        dtype=options.dtype,
        brief=options.brief,
        output=options.output,
    )
    run(wish, log)


def measure_engine(options: argparse.Namespace) -> None:
    """Measure and print the engine itself."""
    from reference_bench.engine import measure_engine as run

    result = run(
        options.repeats or ENGINE_REPEATS,
        options.limit or ENGINE_PROMPTS,
        options.tokens,
    )
    print(json.dumps(result, indent=2))
    if options.json:
        write_atomic(options.json, json.dumps(result, indent=1) + "\n")
        log(f"every sample: {options.json}")


def main() -> None:
    """Measure and print."""
    options = options_of()
    try:
        (compare_methods if options.methods else measure_engine)(options)
    except TrtspecError as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
