"""From names of methods to tables: build, load, measure, print."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from reference_bench.openings import (
    OFF,
    Workload,
    built,
    method_names,
    open_all,
    read_workload,
    reason,
)
from reference_bench.tables import print_comparison
from trtspec.bench.arms import Arm
from trtspec.bench.candidates import arms_of
from trtspec.bench.conditions import record_conditions
from trtspec.bench.measure import Session, measure, requests_of
from trtspec.bench.plan import by_category, ladder
from trtspec.bench.progress import watching
from trtspec.bench.result import Plan, PromptSet, Settings
from trtspec.bench.rundir import RunDirectory, now, run_name
from trtspec.build.artifact import Artifact
from trtspec.errors import RunError, TrtspecError
from trtspec.files import sha256_json
from trtspec.run.tokens import TextCodec

RUNS = Path("runs")


@dataclass(frozen=True)
class Wish:
    """What to compare, and how.

    :param methods: see ``method_names``.
    :param files: of prompts.
    :param limit: most prompts per category.
    :param tokens: most output tokens per prompt.
    :param brief: print only the tables of all categories together.
    :param output: directory of the run; None for one in ``runs``.
    """

    methods: str
    files: Sequence[Path]
    limit: int | None
    tokens: int
    repeats: int
    batches: Sequence[int]
    dtype: str
    brief: bool
    output: Path | None


def compare_methods(wish: Wish, log: Callable[[str], None]) -> Path:
    """Compare methods with plain decoding.

    :returns: the directory of the run.
    :raises TrtspecError: if plain decoding cannot be measured, or nothing else.
    """
    artifacts, left_out = build_all(method_names(wish.methods), wish.dtype, log)
    off = artifacts[OFF]
    codec = TextCodec(off.target, off.chat_template)
    work = read_workload(wish.files, wish.limit, wish.tokens, codec)
    engines, skipped = open_all(artifacts, work, max(wish.batches), log)
    left_out |= skipped
    if [e.artifact.recipe.speculation.method for e in engines] == ["none"]:
        why = "; ".join(f"{name}: {told}" for name, told in left_out.items())
        raise RunError(
            f"there is nothing to compare with {OFF}{f' ({why})' if why else ''}",
            where="--methods",
            allowed="all, or names of recipes whose drafters are here",
        )
    arms = arms_of(engines, (), control=True)
    plan = plan_of(wish, work, arms)
    path = wish.output or RUNS / run_name("methods")
    directory = RunDirectory.create(path, plan)
    console = Console(stderr=True)
    with watching(console, requests_of(plan.settings, arms), wish.repeats) as watcher:
        done = measure(Session(directory, arms, watcher))
    if done.unsaved:
        raise done.unsaved
    print_comparison(done, left_out, Console(file=sys.stdout), brief=wish.brief)
    return done.path


def plan_of(wish: Wish, work: Workload, arms: Sequence[Arm]) -> Plan:
    """Write down what is measured."""
    categories = [prompt.category for prompt in work.prompts]
    return Plan(
        name="methods",
        started=now(),
        arms=tuple(arm.info for arm in arms),
        prompts=PromptSet(
            file=", ".join(work.sources),
            sha256=sha256_json(list(work.sources.values())),
            count=len(work.prompts),
            rendered_sha256=sha256_json([p.tokens for p in work.prompts]),
        ),
        settings=Settings(
            loads=by_category(ladder(wish.batches), categories),
            repeats=wish.repeats,
            control=True,
            output_tokens=wish.tokens,
            temperature=0.0,
            top_k=0,
            top_p=1.0,
            seed=0,
        ),
        conditions=record_conditions(arms[0].driver.conditions()),
    )


def build_all(
    names: Sequence[str], dtype: str, log: Callable[[str], None]
) -> tuple[dict[str, Artifact], dict[str, str]]:
    """Build every method's artifact; also why some cannot be built.

    :raises TrtspecError: if the off arm cannot be built.
    """
    artifacts: dict[str, Artifact] = {}
    left_out: dict[str, str] = {}
    for name in names:
        try:
            artifacts[name] = built(name, dtype, log)
        except TrtspecError as error:
            if name == OFF:
                raise
            left_out[name] = reason(error)
            log(f"{name} is left out: {left_out[name]}")
    return artifacts, left_out
