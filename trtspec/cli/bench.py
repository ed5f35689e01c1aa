"""``trtspec bench``: measure speculation on against off."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.common import (
    backend_for,
    engines_option,
    json_option,
    print_json,
)
from trtspec.cli.paths import InputPath
from trtspec.cli.runners import runner_for

if TYPE_CHECKING:
    from trtspec.bench.plan import Choices
    from trtspec.bench.result import BenchResult
    from trtspec.build.artifact import Artifact


def _concurrency(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """Read a list of positive numbers; one given twice is measured once."""
    if value is None:
        return None
    try:
        numbers = tuple(dict.fromkeys(int(part) for part in value.split(",")))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(
            f"{value!r} is not a list of numbers from 1, as in 1,4"
        )
    return numbers


@click.command()
@click.argument("artifact_or_recipe", type=InputPath(path_type=Path))
@engines_option
@click.option(
    "--prompts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSONL file of prompts; the recipe's workload if not given.",
)
@click.option("--limit", type=click.IntRange(1), help="Use the first N prompts only.")
@click.option(
    "--output-tokens",
    type=click.IntRange(1),
    help="Most tokens per request; the recipe's if not given.",
)
@click.option(
    "--concurrency",
    metavar="N[,N...]",
    callback=_concurrency,
    help="Requests in flight, such as 1,4; the recipe's if not given.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Counted blocks per arm; below 3 no claim is made.",
)
@click.option("--device", help="Torch device of backend reference.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of the result; ARTIFACT/bench/TIME-PID.json if not given.",
)
@json_option
def command(
    *,
    artifact_or_recipe: Path,
    engines: str,
    prompts: Path | None,
    limit: int | None,
    output_tokens: int | None,
    concurrency: tuple[int, ...] | None,
    repeats: int,
    device: str | None,
    threads: int | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Measure speculation on against off, on the same prompts.

    Both arms run every prompt in interleaved blocks, after one uncounted warm-up
    block each. A concurrency at which a request fails has no numbers. A recipe is
    built first; a finding that blocks may be ignored then only: trtspec build RECIPE
    --ignore RULE gives the artifact to measure.

    \b
    Examples:
      trtspec bench recipes/smollm2-135m/ngram.yaml
      trtspec bench engines/NAME-FINGERPRINT --concurrency 1,4 --repeats 5
    """  # noqa: D301 - click reads \b as a character
    from trtspec.bench.paths import require_writable, result_file
    from trtspec.bench.plan import Choices

    choices = Choices(prompts, limit, output_tokens, concurrency, repeats)
    if output:
        output = result_file(output)
    _require_comparable(artifact_or_recipe, choices)
    if output:
        require_writable(output)
    artifact = _artifact(artifact_or_recipe, engines)
    file = output or artifact.path / "bench" / _file_name()
    require_writable(file)
    result = _measured(artifact, choices, device, threads)
    if as_json:
        _save_then_print(result, file)
    else:
        _print_then_save(result, file)
    _require_claim(result)


def _require_comparable(path: Path, choices: Choices) -> None:
    """Refuse what can be seen to be wrong before anything is built."""
    from trtspec.bench.paths import require_rereadable
    from trtspec.bench.plan import require_speculation
    from trtspec.forced_acceptance import SGLANG, TENSORRT_LLM, refuse_forced_acceptance
    from trtspec.recipe import load_prompts, load_recipe

    consequence = "no speed-up measured with it is one"
    refuse_forced_acceptance(os.environ, (TENSORRT_LLM, SGLANG), consequence)
    if not path.is_dir():
        loaded = load_recipe(path)
        require_speculation(loaded.recipe, loaded.where("speculation", "method"))
    if choices.prompts:
        require_rereadable(choices.prompts)
        load_prompts(choices.prompts, "--prompts")


def _artifact(path: Path, engines: str) -> Artifact:
    """Open the artifact, or build the recipe's."""
    from trtspec.bench.plan import require_speculation
    from trtspec.cli.artifact import open_or_build, terminal_progress

    progress = terminal_progress(err=True, news_only=True)
    artifact = open_or_build(path, engines, progress)
    require_speculation(artifact.recipe, str(artifact.path))
    backend_for(artifact.recipe)
    return artifact


def _measured(
    artifact: Artifact, choices: Choices, device: str | None, threads: int | None
) -> BenchResult:
    from rich.console import Console

    from trtspec.bench.fit import require_concurrency
    from trtspec.bench.measure import measure
    from trtspec.bench.plan import make_plan, read_prompts
    from trtspec.bench.progress import watching

    prompts_file, prompts = read_prompts(artifact, choices)
    require_concurrency(artifact.recipe, choices, len(prompts))
    # only now torch: everything that can be wrong without it was looked at
    runner = runner_for(artifact, device=device, threads=threads)
    try:
        plan = make_plan(artifact, runner, prompts_file, prompts, choices)
        console = Console(file=sys.stderr)
        with watching(console, plan.requests, choices.repeats) as watcher:
            return measure(runner, plan, watcher)
    finally:
        runner.close()


def _print_then_save(result: BenchResult, file: Path) -> None:
    from trtspec.bench.result import save_result

    try:
        _print_table(result)
    finally:
        # the reader of the table may be gone (``trtspec bench ... | head``)
        save_result(result, file)
    click.echo(f"every sample: {file}")


def _save_then_print(result: BenchResult, file: Path) -> None:
    """Print one document; its ``file`` is null if the result could not be saved."""
    from trtspec.bench.result import save_result

    try:
        save_result(result, file)
    except Exception:
        # no reader of stdout: the failure to save must be told all the same
        with suppress(BrokenPipeError):
            _print_document(result, None)
        raise
    _print_document(result, str(file))


def _print_document(result: BenchResult, file: str | None) -> None:
    parts = {"blocks", "samples"}
    summary = result.model_dump(mode="json", by_alias=True, exclude=parts)
    print_json({**summary, "file": file})


def _print_table(result: BenchResult) -> None:
    from rich.console import Console

    from trtspec.bench.table import print_result

    print_result(result, Console(file=sys.stdout))


def _require_claim(result: BenchResult) -> None:
    """End with the exit code that the result deserves.

    :raises RunError: if a request failed.
    :raises NoClaimError: if no concurrency allows a claim.
    """
    from trtspec.bench.sentences import verdict_line
    from trtspec.errors import NoClaimError, Problem, RunError

    failed = [cell for cell in result.cells if cell.failure]
    if failed:
        raise RunError.from_problems(Problem(verdict_line(c)) for c in failed)
    words = [cell.verdict.word for cell in result.cells if cell.verdict]
    if set(words) == {"no claim"}:
        raise NoClaimError(
            "measured, but no claim can be made at any concurrency",
            action="see the reasons above; more --repeats narrow the intervals",
        )


def _file_name() -> str:
    """Name the result by the second and the process: two may start in one second."""
    time = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    return f"{time}-{os.getpid()}.json"
