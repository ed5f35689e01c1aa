"""Checks that greedy output with speculation is that without it, token by token.

Runs every bundled prompt in float32 with and without speculation, at every draft
length, at batch 1 and 8, with ``ngram`` and with ``draft_target``. The draft model is
made here: SmolLM2's own first layers with seeded noise, so that some of its drafts
are accepted and some are not. Takes about an hour on two cores; exit 7 on a difference.

    python scripts/check_parity.py [--tokens 32] [--draft-lengths 1,4,8] [--limit N]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM

from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import Progress
from trtspec.cli.common import backend_for
from trtspec.errors import VerificationError
from trtspec.recipe import Recipe, load_prompts, load_recipe
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Request, generate

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "recipes/smollm2-135m/ngram.yaml"
DRAFT_LAYERS = 6
NOISE = 0.002

Tokens = dict[str, list[int]]


def log(text: str) -> None:
    """Say how far we are."""
    print(text, file=sys.stderr, flush=True)


def make_draft(target: Path, directory: Path) -> None:
    """Save the target's first layers, with seeded noise on every weight."""
    transformers.utils.logging.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32)
    model.model.layers = model.model.layers[:DRAFT_LAYERS]
    model.config.num_hidden_layers = DRAFT_LAYERS
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=generator), alpha=NOISE)
    model.save_pretrained(directory)


def with_method(recipe: Recipe, batch: int, method: dict[str, object]) -> Recipe:
    """Give the recipe another method and batch size."""
    content = recipe.model_dump(by_alias=True)
    content["speculation"] = method
    content["limits"]["max_batch_size"] = batch
    return Recipe.model_validate(content)


def decode(runner: ReferenceRunner, requests: list[Request]) -> tuple[Tokens, int, int]:
    """Run all requests; their tokens, drafted and accepted counts."""
    done = [c.completion for c in generate(runner, requests) if c.completion]
    tokens = {c.request_id: c.tokens for c in done}
    return tokens, sum(c.drafted for c in done), sum(c.accepted for c in done)


def requests_for(runner: ReferenceRunner, limit: int, tokens: int) -> list[Request]:
    """One greedy request per bundled prompt, at most ``limit`` per workload."""
    return [
        Request(prompt.id, runner.encode_chat(prompt.messages), tokens)
        for file in sorted((ROOT / "recipes/workloads").glob("*.jsonl"))
        for prompt in load_prompts(file)[:limit]
    ]


def compare(
    artifact: Artifact, draft: Path, options: argparse.Namespace
) -> tuple[list[dict[str, object]], int]:
    """Compare every setting with plain decoding at batch 1; rows, prompts."""
    off = with_method(artifact.recipe, 1, {"method": "none"})
    runner = ReferenceRunner(off, artifact.target, None)
    requests = requests_for(runner, options.limit, options.tokens)
    baseline, _, _ = decode(runner, requests)
    runner.close()
    log(f"plain decoding of {len(baseline)} prompts is done")
    rows: list[dict[str, object]] = []
    for batch in options.batches:
        for length in options.draft_lengths:
            for method in (
                {"method": "ngram", "draft_length": length},
                {"method": "draft_target", "model": "./draft", "draft_length": length},
            ):
                recipe = with_method(artifact.recipe, batch, method)
                runner = ReferenceRunner(recipe, artifact.target, draft)
                tokens, drafted, accepted = decode(runner, requests)
                runner.close()
                row = _row(method, batch, _different(tokens, baseline))
                rows.append(row | {"drafted": drafted, "accepted": accepted})
                log(json.dumps(rows[-1]))
    return rows, len(baseline)


def _row(
    method: dict[str, object], batch: int, different: list[str]
) -> dict[str, object]:
    return {**method, "batch": batch, "different": different}


def _different(tokens: Tokens, baseline: Tokens) -> list[str]:
    return sorted(name for name in baseline if tokens[name] != baseline[name])


def numbers(text: str) -> list[int]:
    """Read a list such as 1,4,8."""
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--draft-lengths", type=numbers, default=list(range(1, 9)))
    parser.add_argument("--batches", type=numbers, default=[1, 8])
    options = parser.parse_args()
    started = time.perf_counter()
    loaded = load_recipe(RECIPE)
    backend = backend_for(loaded.recipe)
    artifact = build(loaded, backend, ROOT / "engines", Progress(log)).artifact
    with tempfile.TemporaryDirectory() as folder:
        make_draft(artifact.target, Path(folder))
        rows, prompts = compare(artifact, Path(folder), options)
    different = [row for row in rows if row["different"]]
    summary = {
        "settings": len(rows),
        "prompts": prompts,
        "tokens": options.tokens,
        "different": different,
        "seconds": round(time.perf_counter() - started),
        "rows": rows,
    }
    print(json.dumps(summary, indent=2))
    if different:
        sys.exit(VerificationError.exit_code)


if __name__ == "__main__":
    main()
