"""``trtspec run``: generate from an artifact or a recipe."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.common import engines_option
from trtspec.cli.paths import InputPath
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from trtspec.recipe import Recipe

DEFAULT_TOKENS = 128


@click.command()
@click.argument("artifact_or_recipe", type=InputPath(path_type=Path))
@click.option("--prompt", "texts", multiple=True, help="A prompt; may be repeated.")
@click.option(
    "--prompts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSONL file of prompts. With neither option, stdin is one prompt.",
)
@click.option("--limit", type=click.IntRange(1), help="Use the first N prompts only.")
@click.option("--raw", is_flag=True, help="Send prompts without the chat template.")
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    help=f"Most tokens per request; the recipe's output_tokens or {DEFAULT_TOKENS}.",
)
@click.option("--temperature", type=click.FloatRange(0, 100), help="0 is greedy.")
@click.option("--top-k", type=click.IntRange(0), help="Keep the k likeliest; 0 is all.")
@click.option(
    "--top-p", type=click.FloatRange(0, 1, min_open=True), help="Nucleus mass."
)
@click.option("--seed", type=click.IntRange(0), help="Seed of the first request.")
@click.option("--stop", multiple=True, help="End the output before this text.")
@click.option("--ignore-eos", is_flag=True, help="Generate the full length always.")
@click.option("--no-speculation", is_flag=True, help="Decode without drafting.")
@click.option(
    "--draft-length",
    type=click.IntRange(1),
    help="Tokens proposed per step, up to what the artifact was built for.",
)
@click.option(
    "--lookahead",
    type=(int, int, int),
    metavar="W N G",
    help="Window, n-gram and verification set size, up to the recipe's.",
)
@click.option(
    "--control",
    "controls",
    multiple=True,
    metavar="NAME=VALUE",
    help="A further sampling control of backend pytorch, such as min_p=0.1: a name of "
    "TensorRT-LLM's SamplingParams, and YAML. May be repeated.",
)
@click.option(
    "--url",
    help="Send to a server that trtspec serve, or launch/serve.sh, started for this "
    "very artifact (backend pytorch).",
)
@click.option(
    "--server", is_flag=True, help="Run through an own trtllm-serve (backend pytorch)."
)
@click.option("--device", help="Torch device of backend reference.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@engines_option
@click.option(
    "--json", "as_json", is_flag=True, help="One JSON line per request; see above."
)
def command(
    *,
    artifact_or_recipe: Path,
    texts: tuple[str, ...],
    prompts: Path | None,
    limit: int | None,
    raw: bool,
    max_tokens: int | None,
    stop: tuple[str, ...],
    ignore_eos: bool,
    no_speculation: bool,
    draft_length: int | None,
    lookahead: tuple[int, int, int] | None,
    controls: tuple[str, ...],
    url: str | None,
    server: bool,
    device: str | None,
    threads: int | None,
    engines: str,
    as_json: bool,
    **sampling: float | None,
) -> None:
    """Generate from an artifact; a recipe is built first.

    What cannot be run is refused before that. A finding that blocks may be ignored when
    building only: trtspec build RECIPE --ignore RULE gives the artifact to run, and
    what was ignored stays written in it.

    Text goes to stdout as it comes, figures go to stderr. With --json there is one line
    per request, and a last line {"acceptance": {...}} if the engine itself counts
    drafts (backend pytorch with speculation): source, drafted, accepted, steps,
    acceptance_rate, acceptance_length over all requests, null where it does not tell;
    note, what limits them; unavailable, why there are none.

    \b
    Examples:
      trtspec run recipes/smollm2-135m/ngram.yaml --prompt "Name three rivers."
      trtspec run engines/NAME-FINGERPRINT --prompts prompts.jsonl --json
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.cli.controls import read_controls
    from trtspec.cli.generating import generate_and_show
    from trtspec.cli.prompts import read_prompts, require_text
    from trtspec.cli.run_early import recipe_to_build, refuse_impossible
    from trtspec.cli.runners import runner_for
    from trtspec.run import (
        Asked,
        make_requests,
        own_speculation,
        sampling_params,
    )

    asked_prompts = read_prompts(texts, prompts)[:limit]
    for text in stop:
        if not text:
            raise UsageError("an empty text ends nothing", where="--stop")
        require_text("--stop", text)
    _require_numbers(sampling)
    asked_controls = read_controls(controls)
    if url is not None and server:
        raise UsageError("give either --url or --server, not both", where="--server")

    def asked_of(recipe: Recipe) -> Asked:
        return Asked(
            max_new_tokens=max_tokens,
            sampling=sampling_params(recipe.sampling, **sampling),
            usual_tokens=_recipe_tokens(recipe),
            stop=stop,
            ignore_eos=ignore_eos,
            speculate=not no_speculation,
            speculation=own_speculation(recipe.speculation, draft_length, lookahead),
            raw=raw,
            controls=asked_controls,
        )

    def refuse(recipe: Recipe) -> None:
        refuse_impossible(
            recipe,
            asked_of(recipe),
            asked_prompts[0].id,
            device=device,
            threads=threads,
            url=url,
            server=server,
        )

    progress = terminal_progress(err=True, news_only=True)
    unbuilt = recipe_to_build(artifact_or_recipe)
    if unbuilt is not None:
        refuse(unbuilt)
    artifact = open_or_build(artifact_or_recipe, engines, progress)
    if unbuilt is None:
        refuse(artifact.recipe)
    runner = runner_for(
        artifact,
        device=device,
        threads=threads,
        url=url,
        server=server,
        progress=progress,
    )
    try:
        asked = asked_of(artifact.recipe)
        requests = make_requests(runner, asked_prompts, asked)
        generate_and_show(runner, requests, as_json=as_json)
    finally:
        runner.close()


def _require_numbers(sampling: dict[str, float | None]) -> None:
    for name, value in sampling.items():
        if value is not None and not math.isfinite(value):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{value} is no number to sample with", where=option)


def _recipe_tokens(recipe: Recipe) -> int:
    workload = recipe.workload
    return workload.output_tokens if workload else DEFAULT_TOKENS
