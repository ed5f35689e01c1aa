"""``trtspec verify``: prove that speculation left the output alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trtspec.cli.bench_options import numbers, urls
from trtspec.cli.common import engines_option, json_option, print_json
from trtspec.cli.paths import InputPath, OutputPath

if TYPE_CHECKING:
    from trtspec.verify.verdict import Verification


@click.command()
@click.argument("artifacts", nargs=-1, type=InputPath(path_type=Path))
@engines_option
@click.option(
    "--url",
    "addresses",
    metavar="[NAME=]URL",
    multiple=True,
    callback=urls,
    help="Ask OpenAI-compatible servers in place of artifacts: off=URL and on=URL.",
)
@click.option("--model", help="Model name for --url; the server's first if not given.")
@click.option(
    "--api",
    type=click.Choice(["chat", "completions"]),
    default="chat",
    show_default=True,
    help="Which requests --url gets.",
)
@click.option(
    "--dtype",
    type=click.Choice(["bfloat16", "float16", "float32"]),
    help="Number format of a server's logits, which decides what a near tie is.  "
    "[default: bfloat16]",
)
@click.option("--gate", is_flag=True, help="Only: what configuration says.")
@click.option("--greedy", is_flag=True, help="Only: greedy output, on against off.")
@click.option("--oracle", is_flag=True, help="Only: tokens against the reference.")
@click.option("--sampled", is_flag=True, help="Only: the distribution when sampled.")
@click.option("--canary", is_flag=True, help="Only: a quick look.")
@click.option(
    "--soak",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Only: ramp the load up and down for so long.",
)
@click.option(
    "--prompts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSONL file of prompts; the recipe's workload if not given.",
)
@click.option("--limit", type=click.IntRange(1), help="Use the first N prompts only.")
@click.option(
    "--output-tokens", type=click.IntRange(2), help="Most tokens of a greedy answer."
)
@click.option(
    "--concurrency",
    metavar="N[,N...]",
    callback=numbers(int, 1, "1,4"),
    help="Greedy requests at once; the first is that of the off arm.  [default: 1,4]",
)
@click.option(
    "--quick", is_flag=True, help="Fewer prompts, shorter answers, less certain."
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 100, min_open=True),
    help="Of sampled requests; the recipe's, or 0.7.",
)
@click.option(
    "--shift",
    type=click.FloatRange(0, 1, min_open=True),
    help="Smallest shift of a distribution to be found: decides how many sampled "
    "requests are sent.  [default: 0.1, with --quick 0.3]",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="What the server behind --url is started with, for the gate: an LLM-API YAML, "
    "a speculative_config, or a command line.",
)
@click.option(
    "--oracle-model",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="Checkpoint of the target for the oracle, where the artifact has none.",
)
@click.option(
    "--pid",
    type=click.IntRange(1),
    help="Process of the server behind --url, on this machine: a soak reads its "
    "memory.",
)
@click.option("--device", help="Torch device of backend reference.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@click.option("--output", type=OutputPath(), help="Write the document to this file.")
@json_option
def command(**asked: Any) -> None:
    """Prove that speculation left the output alone: pass, fail or cannot tell.

    Without any of the options named "Only" these run: the lossless gate (reads the
    configuration), greedy parity (token ids on against off; a first difference is a
    near tie or real), the oracle (every token against the reference engine, where the
    target runs on it; sampled ones against its distributions) and the distribution
    test (sampled answers, on against off).
    Several of them may be named. An artifact that cannot decode without drafting takes
    one with method none beside it.

    Exit codes: 0 pass, 6 cannot tell, 7 fail.

    \b
    Examples:
      trtspec verify recipes/smollm2-135m/ngram.yaml
      trtspec verify engines/NONE engines/OTHER --greedy --output verdict.json
      trtspec verify --url off=http://A:80 --url on=http://B:80 --prompts p.jsonl
      trtspec verify recipes/smollm2-135m/eagle3.yaml --canary
    """  # noqa: D301 - click reads \b as a character
    from trtspec.cli.verify_run import run_verification
    from trtspec.cli.verify_text import print_verification

    as_json, output = asked.pop("as_json"), asked.pop("output")
    done = run_verification(asked)
    if output is not None:
        _write(output, done)
    if as_json:
        print_json(done.model_dump(mode="json", by_alias=True))
    else:
        print_verification(done, output)
    _end(done)


def _write(output: Path, done: Verification) -> None:
    from trtspec.cli.paths import write_output

    write_output(output, done.model_dump_json(by_alias=True, indent=2) + "\n")


def _end(done: Verification) -> None:
    """End with the exit code that the verdict deserves.

    :raises VerificationError: for fail.
    :raises NoClaimError: for cannot tell.
    """
    from trtspec.errors import NoClaimError, VerificationError

    if done.verdict == "fail":
        raise VerificationError(done.sentence, action="see the reasons above")
    if done.verdict == "cannot tell":
        raise NoClaimError(done.sentence, action="see the reasons above")
