"""``trtspec tune``: the draft length for a workload, and whether to draft at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from trtspec.cli.bench import ARGUMENTS, Remembering
from trtspec.cli.bench_options import numbers
from trtspec.cli.common import engines_option, json_option, print_json
from trtspec.cli.paths import InputPath


@click.command(cls=Remembering)
@click.argument("recipes", nargs=-1, required=True, type=InputPath(path_type=Path))
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
    callback=numbers(int, 1, "1,4"),
    help="Requests in flight, such as 1,4; the recipe's if not given.",
)
@click.option(
    "--longest",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Longest draft that is looked at.",
)
@click.option(
    "--price-for",
    metavar="GPU",
    help="Price the steps of a GPU that is not here, such as H200, in place of "
    "measuring them; nothing is claimed then. Takes recipes of all backends.",
)
@click.option(
    "--host-overhead",
    type=click.FloatRange(0),
    metavar="MS",
    help="With --price-for: milliseconds on the host per round that drafts; a "
    "published figure if not given.",
)
@click.option(
    "--tpot",
    "tpot_limit",
    type=click.FloatRange(0, min_open=True),
    help="Most seconds per token of a request: says which loads keep it.",
)
@click.option(
    "--hourly",
    type=click.FloatRange(0, min_open=True),
    help="Price of the machine per hour, in any currency: adds what a million output "
    "tokens cost.",
)
@click.option(
    "--traces",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory of an earlier tuning; its traces are not made again.",
)
@click.option(
    "--confirm/--no-confirm",
    default=True,
    help="Measure the choice against plain decoding.  [default: --confirm]",
)
@click.option(
    "--exhaustive",
    is_flag=True,
    help="Measure every draft length, and say what the choice loses against the best.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Counted blocks per arm of the bench; below 3 no claim is made.",
)
@click.option("--device", help="Torch device.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    help="Directory of the tuning; tunings/TIME-NAME if not given.",
)
@click.option(
    "--write",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the tuned recipe goes; beside the recipe, as NAME.tuned.yaml, if not "
    "given.",
)
@json_option
@click.pass_context
def command(ctx: click.Context, /, **asked: Any) -> None:
    """Choose the draft length for a workload, or that drafting does not pay.

    The workload is decoded once per recipe; from what each drafter would have had
    accepted, and from measured step times, every draft length is replayed without the
    models. The best are then measured against plain decoding, and the measurement has
    the last word. Several recipes of one target are compared with one another.

    \b
    Examples:
      trtspec tune recipes/smollm2-135m/ngram.yaml
      trtspec tune recipes/smollm2-135m/{ngram,suffix,eagle3}.yaml
      trtspec tune RECIPE --prompts mine.jsonl --concurrency 1,4,8 --exhaustive
      trtspec tune recipes/llama-3.1-8b/ngram.yaml --price-for H200
    """  # noqa: D301 - click reads \b as a character
    from trtspec.cli.tune_run import start_tuning

    as_json = asked.pop("as_json")
    done = start_tuning({**asked, "arguments": ctx.meta[ARGUMENTS]})
    if as_json:
        document = done.result.model_dump(mode="json", by_alias=True)
        written = str(done.written) if done.written else None
        print_json({**document, "tuning": str(done.path), "recipe": written})
    else:
        done.print()
    done.require_claim()
