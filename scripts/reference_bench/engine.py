"""How fast the reference engine itself is, against transformers' own generate."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import psutil
import torch
import transformers
from transformers import AutoModelForCausalLM

from reference_bench.openings import RECIPES, ROOT, built
from trtspec.methods import NGram
from trtspec.recipe import load_prompts
from trtspec.reference.runner import ReferenceRunner, open_runner
from trtspec.run import Request, generate

RECIPE = RECIPES / "ngram.yaml"
PROMPTS = ROOT / "recipes/workloads/code.jsonl"

Rates = dict[str, list[float]]


class Lookup(NamedTuple):
    """The settings of prompt lookup that both sides share."""

    draft_length: int
    max_matching_ngram: int


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def run_ours(
    runner: ReferenceRunner, requests: list[Request], batch: int
) -> tuple[float, float, dict[str, list[int]]]:
    """Decode in groups of ``batch``; tokens per second, forward share, tokens."""
    tokens: dict[str, list[int]] = {}
    forward = decoding = 0.0  # decoding: wall time of the whole engine step
    started = time.perf_counter()
    for first in range(0, len(requests), batch):
        for request in requests[first : first + batch]:
            runner.submit(request)
        while runner.busy:
            before = time.perf_counter()
            result = runner.advance()
            elapsed = time.perf_counter() - before
            for record in result.records:
                if record.kind == "decode":
                    forward += record.forward_seconds + record.draft_forward_seconds
                    decoding += elapsed
            for chunk in result.chunks:
                if chunk.completion:
                    tokens[chunk.request_id] = chunk.completion.tokens
    seconds = time.perf_counter() - started
    return sum(map(len, tokens.values())) / seconds, forward / decoding, tokens


def run_transformers(
    model: torch.nn.Module, requests: list[Request], lookup: Lookup
) -> tuple[float, dict[str, list[int]]]:
    """Decode one after the other with prompt lookup; tokens per second, tokens."""
    tokens: dict[str, list[int]] = {}
    started = time.perf_counter()
    for request in requests:
        ids = torch.tensor([request.prompt])
        output = model.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=request.max_new_tokens,
            min_new_tokens=request.max_new_tokens,
            prompt_lookup_num_tokens=lookup.draft_length,
            max_matching_ngram_size=lookup.max_matching_ngram,
        )
        tokens[request.id] = output[0, len(request.prompt) :].tolist()
    seconds = time.perf_counter() - started
    return sum(map(len, tokens.values())) / seconds, tokens


def process_seconds(arguments: list[str], repeats: int) -> list[float]:
    """Whole-process wall time of a trtspec command."""
    times = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "trtspec", *arguments],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        times.append(time.perf_counter() - started)
    return times[1:]  # the first one warms the file cache


def measure(
    runner: ReferenceRunner,
    model: torch.nn.Module,
    on: list[Request],
    lookup: Lookup,
    repeats: int,
) -> tuple[Rates, Rates, str]:
    """Run all arms in turn; the order is reversed from repeat to repeat."""
    off = [
        Request(r.id, r.prompt, r.max_new_tokens, ignore_eos=True, speculate=False)
        for r in on
    ]
    rates: Rates = defaultdict(list)
    shares: Rates = defaultdict(list)
    outputs: dict[str, dict[str, list[int]]] = {}

    def ours(name: str, requests: list[Request], batch: int) -> Callable[[], None]:
        def arm() -> None:
            rate, share, outputs[name] = run_ours(runner, requests, batch)
            rates[name].append(rate)
            shares[name].append(share)

        return arm

    def theirs() -> None:
        rate, outputs["transformers"] = run_transformers(model, on, lookup)
        rates["transformers"].append(rate)

    arms = [
        ours("on, batch 1", on, 1),
        theirs,
        ours("off, batch 1", off, 1),
        ours("off, batch 8", off, 8),
        ours("on, batch 8", on, 8),
    ]
    list(generate(runner, on[:2]))  # warm up
    run_transformers(model, on[:1], lookup)
    for repeat in range(repeats):
        for arm in arms if repeat % 2 == 0 else reversed(arms):
            arm()
        log(f"repeat {repeat + 1}/{repeats}: {rates['on, batch 1'][-1]:.1f} tokens/s")
    ours_1, theirs_1 = outputs["on, batch 1"], outputs["transformers"]
    same = sum(ours_1[request.id] == theirs_1[request.id] for request in on)
    return rates, shares, f"{same}/{len(on)}"


def paired_ratio(rates: Rates, over: str, under: str) -> dict[str, float]:
    """Median, smallest and largest ratio of the same repeat."""
    ratios = [a / b for a, b in zip(rates[over], rates[under], strict=True)]
    return {
        "median": statistics.median(ratios),
        "min": min(ratios),
        "max": max(ratios),
    }


def measure_engine(repeats: int, limit: int, tokens: int) -> dict[str, object]:
    """Measure everything on the first prompts of the bundled code workload.

    :param limit: prompts.
    :param tokens: output tokens of each.
    """
    artifact = built(RECIPE.stem, "bfloat16", log)
    method = artifact.recipe.speculation
    assert isinstance(method, NGram)
    lookup = Lookup(method.longest_draft, method.max_matching_ngram)
    commands = {
        name: process_seconds(arguments, repeats)
        for name, arguments in {
            "--help": ["--help"],
            "check": ["check", str(RECIPE)],
            "plan": ["plan", str(RECIPE)],
        }.items()
    }
    runner = open_runner(artifact)
    model = AutoModelForCausalLM.from_pretrained(
        artifact.target, dtype=torch.bfloat16
    ).eval()
    on = [
        Request(p.id, runner.encode_chat(p.messages), tokens, ignore_eos=True)
        for p in load_prompts(PROMPTS)[:limit]
    ]
    load = psutil.getloadavg()[0]
    rates, shares, same = measure(runner, model, on, lookup, repeats)
    return {
        "conditions": runner.conditions()
        | {
            "transformers": transformers.__version__,
            "prompts": len(on),
            "output_tokens": tokens,
            **lookup._asdict(),
            "repeats": repeats,
            "load_average_before": load,
        },
        "tokens_per_second": {k: statistics.median(v) for k, v in rates.items()},
        "forward_share": {k: statistics.median(v) for k, v in shares.items()},
        "ratio_on_to_transformers": paired_ratio(rates, "on, batch 1", "transformers"),
        "ratio_on_to_off_batch_1": paired_ratio(rates, "on, batch 1", "off, batch 1"),
        "ratio_on_to_off_batch_8": paired_ratio(rates, "on, batch 8", "off, batch 8"),
        "ratio_off_batch_8_to_1": paired_ratio(rates, "off, batch 8", "off, batch 1"),
        "outputs_identical_to_transformers": same,
        "process_seconds": {k: statistics.median(v) for k, v in commands.items()},
        "samples": {"tokens_per_second": rates, "process_seconds": commands},
    }
