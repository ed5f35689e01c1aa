"""From names of methods to tables: build, load, measure, print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console

from reference_bench.openings import (
    OFF,
    built,
    method_names,
    open_all,
    read_load,
    reason,
)
from reference_bench.tables import compare, document_of, print_comparison
from reference_bench.turns import measure_methods
from trtspec.bench.conditions import record_conditions
from trtspec.build.artifact import Artifact
from trtspec.errors import RunError, TrtspecError
from trtspec.run.tokens import TextCodec


def compare_methods(
    wished: str,
    files: Sequence[Path],
    *,
    limit: int | None,
    tokens: int,
    repeats: int,
    batches: Sequence[int],
    dtype: str,
    brief: bool,
    log: Callable[[str], None],
) -> dict[str, Any]:
    """Compare methods with plain decoding.

    :param wished: see ``method_names``.
    :param files: of prompts.
    :param limit: most prompts per category.
    :param tokens: most output tokens per prompt.
    :param brief: print only the tables of all categories together.
    :returns: the document for ``--json``.
    :raises TrtspecError: if plain decoding cannot be measured, or nothing else.
    """
    artifacts, left_out = build_all(method_names(wished), dtype, log)
    off = artifacts[OFF]
    codec = TextCodec(off.target, off.chat_template)
    load = read_load(files, limit, tokens, codec)
    methods, skipped = open_all(artifacts, load, max(batches), log)
    left_out |= skipped
    if [method.name for method in methods] == [OFF]:
        why = "; ".join(f"{name}: {told}" for name, told in left_out.items())
        raise RunError(
            f"there is nothing to compare with {OFF}{f' ({why})' if why else ''}",
            where="--methods",
            allowed="all, or names of recipes whose drafters are here",
        )
    runner = methods[0].runner.conditions()
    conditions = record_conditions(json.loads(json.dumps(runner, default=str)))
    started = _now()
    raw = measure_methods(methods, load, batches, repeats, log)
    rows = compare(raw, methods, load)
    for (batch, method), why in raw.failures.items():
        left_out[f"{method} at batch {batch}"] = why
    document = document_of(
        raw,
        rows,
        methods,
        load,
        started=started,
        finished=_now(),
        conditions=conditions.model_dump(mode="json"),
        settings={
            "batches": list(batches),
            "repeats": repeats,
            "output_tokens": tokens,
            "limit": limit,
            "dtype": dtype,
        },
        left_out=left_out,
    )
    print_comparison(rows, document, Console(file=sys.stdout), brief=brief)
    return document


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


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
