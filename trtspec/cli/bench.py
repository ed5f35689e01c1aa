"""``trtspec bench``: measure speculation on against off."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.bench_options import ARRIVALS, goodput, numbers, urls
from trtspec.cli.common import engines_option, json_option, print_json
from trtspec.cli.paths import InputPath

if TYPE_CHECKING:
    from trtspec.bench.rundir import BenchRun

ARGUMENTS = "trtspec.bench.arguments"
"""Where a context keeps the arguments as they were given."""


class Remembering(click.Command):
    """A command that keeps its arguments as they were given, to begin again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse them, and keep them."""
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=Remembering)
@click.argument("artifacts", nargs=-1, type=InputPath(path_type=Path))
@engines_option
@click.option(
    "--url",
    "addresses",
    metavar="[NAME=]URL",
    multiple=True,
    callback=urls,
    help="Measure an OpenAI-compatible server in place of artifacts; the arm named off "
    "is the baseline. May be repeated. $OPENAI_API_KEY is sent if it is set.",
)
@click.option(
    "--model",
    help="Name of the model at --url; the first that the server lists if not given.",
)
@click.option(
    "--api",
    type=click.Choice(["chat", "completions"]),
    default="chat",
    show_default=True,
    help="Which requests --url gets.",
)
@click.option(
    "--prompts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of prompts: JSONL, ShareGPT's or OpenAI's batch layout; the recipe's "
    "workload if not given.",
)
@click.option(
    "--turns",
    type=click.Choice(["first", "all"]),
    default="first",
    show_default=True,
    help="Of a conversation the first user turn, or all. Answers between them that the "
    "file does not have are made once, greedily, with drafting off.",
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    help="Use the first N prompts only; a claim needs 8.",
)
@click.option(
    "--output-tokens",
    type=click.IntRange(1),
    help="At most so many output tokens per request; the recipe's if not given.",
)
@click.option(
    "--fixed-length",
    is_flag=True,
    help="Go on past the natural end, to exactly --output-tokens.",
)
@click.option(
    "--concurrency",
    metavar="N[,N...]",
    callback=numbers(int, 1, "1,4"),
    help="Requests kept in flight, a load for each N, such as 1,4; the recipe's if not "
    "given.",
)
@click.option(
    "--rate",
    "rates",
    metavar="R[,R...]",
    callback=numbers(float, 0.0, "0.5,2"),
    help="Requests per second that do not wait for answers (open loop), a load for "
    "each R; beside --concurrency both are run.",
)
@click.option(
    "--arrivals",
    type=click.Choice(ARRIVALS),
    default=ARRIVALS[0],
    show_default=True,
    help="How --rate spaces its requests.",
)
@click.option(
    "--by-category",
    is_flag=True,
    help="Measure each category of prompts as a load of its own.",
)
@click.option(
    "--draft-length",
    "draft_lengths",
    metavar="K[,K...]",
    callback=numbers(int, 1, "2,4"),
    help="Compare these draft lengths, each an arm of its own, within what the "
    "artifact was built for.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Counted blocks per arm; below 3 no claim is made.",
)
@click.option(
    "--control/--no-control",
    default=True,
    help="Run the off arm twice a round (A/A), to see what differs by chance.  "
    "[default: --control]",
)
@click.option(
    "--goodput",
    "goodput_limits",
    metavar="LIMITS",
    callback=goodput,
    help="Limits in seconds on ttft, tpot and e2e, such as ttft=0.5,tpot=0.05: also "
    "count the requests per second that keep all of them.",
)
@click.option(
    "--forced",
    is_flag=True,
    help="Run although a variable forces acceptance: for timings of the engine; text "
    "and speed-up mean nothing, and the result says so.",
)
@click.option("--device", help="Torch device of backend reference.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Directory of the run; runs/TIME-NAME if not given.",
)
@click.option(
    "--resume",
    metavar="RUN",
    type=click.Path(path_type=Path),
    help="Go on with a run that was stopped; takes no other argument.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Measure speculation on against off, on the same prompts.

    All arms run every prompt in interleaved blocks, after one uncounted warm-up block
    each; off runs twice a round, so that the result says how small a difference can be
    seen. Several artifacts are compared with the one whose method is none, or with the
    first one's off. A load under which a request fails has no numbers.

    A recipe is built first. If a finding blocks that, build it with trtspec build
    RECIPE --ignore RULE and measure the artifact.

    It makes loads x (candidates + 2) x repeats passes over the prompts, after short
    warm-ups.

    \b
    Examples:
      trtspec bench recipes/smollm2-135m/ngram.yaml
      trtspec bench engines/NAME-FINGERPRINT --concurrency 1,4 --repeats 5
      trtspec bench recipes/smollm2-135m/{none,ngram,eagle3}.yaml
      trtspec bench --url off=http://A:80 --url on=http://B:80 --prompts p.jsonl
      trtspec bench --resume runs/TIME-NAME
    """  # noqa: D301 - click reads \b as a character
    from trtspec.cli.bench_run import resume_run, start_run

    as_json = asked.pop("as_json")
    if (run := asked.pop("resume")) is not None:
        _require_alone(ctx)
        done = resume_run(run)
    else:
        done = start_run(asked, ctx.meta[ARGUMENTS])
    try:
        if as_json:
            _print_document(done)
        else:
            _print_table(done)
    finally:
        # also where the reader of stdout is gone (``trtspec bench ... | head``)
        if done.unsaved:
            raise done.unsaved
    _require_claim(done)


def _require_alone(ctx: click.Context) -> None:
    """Refuse arguments that the run already has.

    :raises UsageError: naming them.
    """
    from trtspec.errors import UsageError

    kept = {"resume", "as_json"}
    source = click.core.ParameterSource.DEFAULT
    given = [
        name
        for name in ctx.params
        if name not in kept and ctx.get_parameter_source(name) != source
    ]
    if given:
        raise UsageError(
            f"{', '.join(sorted(given))} beside --resume",
            where="--resume",
            allowed="--resume RUN alone, with --json or without",
            action="leave the rest out: the run goes on as it was begun",
        )


def _print_document(done: BenchRun) -> None:
    result = done.result.model_dump(mode="json", by_alias=True)
    print_json({**result, "run": None if done.unsaved else str(done.path)})


def _print_table(done: BenchRun) -> None:
    from rich.console import Console

    from trtspec.bench.table import print_result

    print_result(done.result, Console(file=sys.stdout))
    if done.unsaved:
        return
    click.echo(f"every sample: {done.path}")
    click.echo(f"as a page: trtspec report {done.path} --html report.html")


def _require_claim(done: BenchRun) -> None:
    """End with the exit code that the result deserves.

    :raises RunError: if a request failed.
    :raises NoClaimError: if no comparison allows a claim.
    """
    from trtspec.bench.sentences import verdict_lines
    from trtspec.errors import NoClaimError, Problem, RunError

    cells = done.result.cells
    failed = [cell for cell in cells if cell.failures]
    if failed:
        raise RunError.from_problems(
            Problem(line) for cell in failed for line, _ in verdict_lines(cell)
        )
    words = {c.verdict.word for cell in cells for c in cell.comparisons.values()}
    if words <= {"no claim"}:
        raise NoClaimError(
            "measured, but no claim can be made under any load",
            action="see the reasons above; more prompts or --repeats narrow intervals",
        )
