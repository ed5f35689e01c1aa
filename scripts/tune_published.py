"""What the cost model says beside published numbers of speculation under load.

    python scripts/tune_published.py [--roofline]

With trtspec[price] installed, by tables of measured kernels; else, or with --roofline,
by data sheets. Nothing is fitted to the published figures. Two of them go in: the
plain step that a publication measured, and for a ladder that names no acceptance
length, the one that its first rung implies; the other rungs are then predictions.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.tune.price import models
from trtspec.tune.costs import StepCosts
from trtspec.tune.price.gpu import priced_kind
from trtspec.tune.price.priced import Priced
from trtspec.tune.price.prices import By, Grid, Measured, price
from trtspec.tune.price.subject import Subject

CONTEXT = 1024
"""Tokens of a request; no publication says, MT-Bench has about as many."""
NEAR = 0.1
"""A ratio within 10 % of the published one agrees with it."""

EAGLE3 = "EAGLE-3 paper (2503.01840v3), Table 3: SGLang 0.4.4, one H100, chain of 3"
REPLAY = "gist jiangLLM/e95756b9, vLLM PR 62258: Qwen3-8B, one H100, replayed answers"


@dataclass(frozen=True)
class Ladder:
    """Published throughput on / off by batch size.

    :param acceptance_length: tokens per step; None if it is not published.
    :param plain: measured seconds of a plain step at batch 1; None if not published.
    """

    name: str
    source: str
    subject: str
    length: int
    published: Mapping[int, float]
    acceptance_length: float | None = None
    plain: float | None = None


@dataclass(frozen=True)
class Row:
    """One rung, both ways.

    :param upper: the same if verification reads the cache once per token.
    :param given: whether the rung was put in.
    """

    batch: int
    published: float
    predicted: float
    upper: float
    given: bool

    def word(self, ratio: float) -> str:
        """Give ``agrees`` or ``misses``; ``given`` for the rung that was put in."""
        if self.given:
            return "given"
        near = abs(ratio / self.published - 1) <= NEAR
        return "agrees" if near else "misses"


@dataclass(frozen=True)
class Compared:
    """A ladder and what the cost model makes of it.

    :param tokens: per step, published or implied by the first rung.
    :param upper_tokens: the same if the cache is read once per token.
    """

    ladder: Ladder
    priced: Priced
    tokens: float
    upper_tokens: float
    rows: tuple[Row, ...] = field(default=())

    @property
    def plain(self) -> float:
        """Predicted seconds of a plain step at batch 1, not scaled."""
        return self.priced.costs.verify.at(1, 1) / self.priced.scale

    def break_even(self) -> tuple[str, str, str]:
        """Give the batch sizes at which drafting stops to gain.

        :return: published, predicted, and predicted with the cache read per token.
        """
        return (
            fall([(row.batch, row.published) for row in self.rows]),
            fall([(row.batch, row.predicted) for row in self.rows]),
            fall([(row.batch, row.upper) for row in self.rows]),
        )


LADDERS = (
    Ladder(
        "EAGLE-3 under load",
        EAGLE3,
        "eagle3",
        3,
        {
            2: 1.81,
            4: 1.82,
            8: 1.62,
            16: 1.48,
            24: 1.39,
            32: 1.32,
            48: 1.38,
            56: 1.34,
            64: 1.38,
        },
        plain=1 / 158.34,
    ),
    Ladder(
        "EAGLE under load",
        EAGLE3,
        "eagle",
        3,
        {
            2: 1.40,
            4: 1.38,
            8: 1.23,
            16: 1.02,
            24: 0.93,
            32: 0.94,
            48: 0.88,
            56: 0.99,
            64: 0.99,
        },
        plain=1 / 158.34,
    ),
    Ladder(
        "replay of whole answers, 12 tokens",
        REPLAY,
        "replay",
        12,
        {1: 10.50, 8: 5.27},
        acceptance_length=13,
        plain=1 / 125,
    ),
    Ladder(
        "replay of whole answers, 16 tokens",
        REPLAY,
        "replay",
        16,
        {32: 3.50},
        acceptance_length=17,
        plain=1 / 125,
    ),
)

BOUNDS = (
    ("TensorRT-LLM blog 7, n-gram, batch 1, second turn", 1.9613, 1.66),
    ("the same, batch 4", 1.6399, 1.66),
    ("the same, batch 32", 1.3306, 1.66),
)
"""Published ratio and acceptance length: no cost of a step lets it be larger."""

LACKING = {
    "GPUStack, Qwen3-8B FP8, H100": "its baseline is another engine: no ratio of "
    "speculation; no acceptance length",
    "SpecBundle, Qwen3-30B-A3B, Qwen3-235B, Qwen3-Next, Coder-480B, Kimi-K2": "GPU and "
    "how many share the model are not with the numbers; mixtures of experts",
    "TensorRT-LLM blog 7, Llama-4-Scout": "draft length is not with the numbers; a "
    "mixture of experts",
    "SGLang PR 23336, GLM-4.7-FP8": "no GPU, no acceptance length, no load",
    "SGLang PR 22246": "best lengths only; no GPU, no acceptance length",
    "vLLM PR 52362, DeepSeek-V4": "latent attention: refused; an AMD GPU",
    "vLLM adaptive verification, MiniMax-M3": "a range of gains only",
    "vLLM issue 49548": "a fault of an engine, no cost",
    "arXiv 2601.11580": "shares of step time over many models, no single cell",
    "arXiv 2604.09557": "no cell with GPU, length, acceptance and load together",
    "Hochelaga, RTX 5090": "model and acceptance length are not with the numbers",
    "SGLang issues 6949, 5502": "no acceptance length",
    "llama.cpp PR 24508, ik_llama.cpp PR 2156": "GGUF kernels of other engines",
}
"""Rows of the survey that cannot be set beside a prediction, and why."""


def compare(ladder: Ladder, directory: Path, by: By = "best") -> Compared:
    """Price a ladder's steps, and predict its rungs."""
    batches = tuple(sorted({1, *ladder.published}))
    anchor = Measured(1, ladder.plain) if ladder.plain else None
    grid = Grid(batches, (ladder.length,), (ladder.length,), CONTEXT)
    priced = price(
        subject(ladder, directory), priced_kind("H100"), grid, anchor=anchor, by=by
    )
    first = min(ladder.published)
    given = ladder.acceptance_length
    tokens, upper_tokens = (
        given or ladder.published[first] * relative_cost(costs, first, ladder)
        for costs in (priced.costs, priced.upper)
    )
    rows = tuple(
        Row(
            batch,
            published,
            tokens / relative_cost(priced.costs, batch, ladder),
            upper_tokens / relative_cost(priced.upper, batch, ladder),
            given is None and batch == first,
        )
        for batch, published in ladder.published.items()
    )
    return Compared(ladder, priced, tokens, upper_tokens, rows)


def relative_cost(costs: StepCosts, batch: int, ladder: Ladder) -> float:
    """Give a drafting step's time / a plain one's: tokens per step that break even."""
    return costs.step(batch, ladder.length) / costs.step(batch, 0)


def subject(ladder: Ladder, directory: Path) -> Subject:
    """Describe the models that a ladder was measured with."""
    if ladder.subject == "replay":
        target = models.placed(models.model(directory / "qwen", models.QWEN3_8B))
        found: Subject = models.ngram(target, ladder.length)
        return found
    target = models.placed(models.model(directory / "llama", models.LLAMA_8B))
    if ladder.subject == "eagle3":
        head = models.eagle3_head(directory / "eagle3", models.EAGLE3_8B)
        found = models.eagle3(target, head, ladder.length)
    else:
        found = models.eagle_chain(target, directory / "eagle", ladder.length)
    return found


def fall(rungs: Sequence[tuple[int, float]]) -> str:
    """Say between which batch sizes a ratio first falls below 1."""
    if rungs[0][1] < 1:
        return f"below {rungs[0][0]}"
    for (before, _), (batch, ratio) in pairwise(rungs):
        if ratio < 1:
            return f"{before} to {batch}"
    return f"above {rungs[-1][0]}"


def main() -> None:
    """Print a table per ladder, the bounds, and what cannot be compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roofline", action="store_true")
    by: By = "roofline" if parser.parse_args().roofline else "best"
    console = Console(width=100)
    with tempfile.TemporaryDirectory() as directory:
        for ladder in LADDERS:
            for line in told(compare(ladder, Path(directory), by)):
                console.print(line, highlight=False, markup=False)
    for name, ratio, most in BOUNDS:
        word = "possible" if ratio <= most else "not by speculation alone"
        console.print(f"{name}: {ratio:.2f}, acceptance length {most:.2f}: {word}")
    console.print("\nnot compared:")
    for name, why in LACKING.items():
        console.print(f"  {name}: {why}", highlight=False)


def told(found: Compared) -> Iterator[str | Table]:
    """Write a comparison down."""
    ladder = found.ladder
    yield f"\n{ladder.name} ({ladder.source}); {found.priced.verify.told()}"
    if ladder.plain:
        yield (
            f"plain step at batch 1: {ladder.plain * 1000:.2f} ms published, "
            f"{found.plain * 1000:.2f} predicted"
        )
    whence = "published" if ladder.acceptance_length else "implied by the first rung"
    yield (
        f"tokens per step: {found.tokens:.2f}, or {found.upper_tokens:.2f} ({whence})"
    )
    table = Table("batch", "published", "cache read per request", "per token")
    for row in found.rows:
        table.add_row(
            str(row.batch),
            f"{row.published:.2f}",
            f"{row.predicted:.2f} {row.word(row.predicted)}",
            f"{row.upper:.2f} {row.word(row.upper)}",
        )
    yield table
    if len(found.rows) > 2:
        published, predicted, upper = found.break_even()
        yield (
            f"break-even batch: {published} published, {predicted} predicted, {upper} "
            "with the cache read per token"
        )


if __name__ == "__main__":
    main()
