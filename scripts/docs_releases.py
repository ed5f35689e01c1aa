"""Writes what the docs quote of backend pytorch: a recipe as each release takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from trtspec.methods import (
    Auto,
    DFlash,
    DraftTarget,
    Eagle3,
    Method,
    Mtp,
    NGram,
    Pard,
    Suffix,
    User,
    lossy_reason,
)
from trtspec.recipe import load_recipe
from trtspec.trtllm import facts
from trtspec.trtllm.pytorch.compile import compile_args
from trtspec.trtllm.pytorch.compile.document import render
from trtspec.trtllm.pytorch.settings import LlmArgs

ROOT = Path(__file__).resolve().parent.parent
OF_SPECULATION = ("speculative_config", "disable_overlap_scheduler")
"""Keys of the YAML that are about speculation."""

SHOWN: dict[str, Method] = {
    "`eagle3`": Eagle3(method="eagle3", model="m", draft_length=4),
    "`mtp`": Mtp(method="mtp", draft_length=3),
    "`mtp`, `acceptance: relaxed`": Mtp(
        method="mtp",
        draft_length=3,
        acceptance="relaxed",
        relaxed_top_k=10,
        relaxed_delta=0.6,
    ),
    "`draft_target`": DraftTarget(method="draft_target", model="m", draft_length=4),
    "`ngram`": NGram(method="ngram", draft_length=4),
    "`suffix`": Suffix(method="suffix", draft_length=4),
    "`pard`": Pard(method="pard", model="m", draft_length=4),
    "`dflash`": DFlash(method="dflash", model="m", draft_length=4),
    "`user`": User(method="user", drafter="module:name", draft_length=4),
    "`auto`": Auto(method="auto"),
}
"""Every way of speculating there that differs in what it does to the output."""

FIGURES = {
    "avg_decoded_tokens_per_iter": "every answer",
    "specDecodingStats": "`GET /metrics`",
    "speculative_decoding": "`request_perf_metrics` of the Python API",
    "trtllm_spec_decode_num_accepted_tokens_total": "`GET /prometheus/metrics`",
}
"""What acceptance is read from, and where that is."""


def recipe(path: str) -> Iterator[str]:
    """Quote a recipe's file."""
    yield "```yaml"
    yield from (ROOT / path).read_text().splitlines()
    yield "```"


def llm_args(path: str, number: str) -> Iterator[str]:
    """Quote what a recipe's speculation becomes in one version, and what is said of it.

    :param path: of the recipe, from the repository's root.
    :param number: of the version.
    """
    compiled = compile_args(load_recipe(ROOT / path).recipe, Version(number))
    if not compiled.blocked:
        yield "```yaml"
        yield f"# TensorRT-LLM {number}"
        yield from render(_speculation(compiled.args)).splitlines()
        yield "```"
    for remark in compiled.remarks:
        head = "refused" if remark.severity == "blocking" else remark.severity
        told = f"- {number}, {head}: {remark.what} ({remark.why})"
        yield f"{told}. {remark.action[:1].upper()}{remark.action[1:]}."


def _speculation(args: LlmArgs) -> LlmArgs:
    kept = tuple(s for s in args.settings if s.key in OF_SPECULATION)
    return replace(args, settings=kept)


def exactness() -> Iterator[str]:
    """Say what each method does to the output on each family of releases."""
    heads = " | ".join(f"`{held}`" for held in facts.family_ranges().values())
    yield f"| method | {heads} |"
    yield f"|{'---|' * (len(facts.FAMILIES) + 1)}"
    for name, method in SHOWN.items():
        told = (_exact(method, facts.newest_of(family)) for family in facts.FAMILIES)
        yield f"| {name} | {' | '.join(told)} |"


def _exact(method: Method, version: Version) -> str:
    if facts.engine_shape(method.method, version) is None:
        return "not there"
    if lossy_reason(method, "pytorch", version, sampled=False):
        return "lossy"
    if lossy_reason(method, "pytorch", version, sampled=True):
        return "greedy only"
    return "exact"


def acceptance() -> Iterator[str]:
    """Say which figures tell of acceptance on each family of releases."""
    heads = " | ".join(f"`{held}`" for held in facts.family_ranges().values())
    yield f"| figure | from | {heads} |"
    yield f"|{'---|' * (len(facts.FAMILIES) + 2)}"
    for name, place in FIGURES.items():
        told = (_fates(name, facts.newest_of(family)) for family in facts.FAMILIES)
        yield f"| `{name}` | {place} | {' | '.join(told)} |"


def _fates(name: str, version: Version) -> str:
    fates = {
        shape: metric.fate
        for shape in facts.ENGINE_SHAPES
        for metric in facts.metrics(version, shape)
        if metric.name == name
    }
    if len(set(fates.values())) == 1:
        return fates[facts.ENGINE_SHAPES[0]]
    return ", ".join(f"{fate} ({shape})" for shape, fate in fates.items())


def zones() -> Iterator[str]:
    """List the versions that are refused, and why."""
    return (f"- `{zone.versions}`: {zone.why}" for zone in facts.zones())
