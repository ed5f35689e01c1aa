"""``trtspec run``: generate from an artifact or a recipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.common import engines_option, runner_for
from trtspec.errors import UsageError

if TYPE_CHECKING:
    from trtspec.build.artifact import Artifact
    from trtspec.recipe import Prompt
    from trtspec.run import Completion, Request, Runner

DEFAULT_TOKENS = 128


@click.command()
@click.argument("artifact_or_recipe", type=click.Path(path_type=Path))
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
@click.option("--device", help="Torch device of backend reference.  [default: cpu]")
@click.option("--threads", type=click.IntRange(1), help="CPU threads of the engine.")
@engines_option
@click.option("--json", "as_json", is_flag=True, help="One JSON line per request.")
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
    device: str | None,
    threads: int | None,
    engines: str,
    as_json: bool,
    **sampling: float | None,
) -> None:
    """Generate from an artifact; a recipe is built first.

    Text goes to stdout as it comes, figures go to stderr.

    \b
    Examples:
      trtspec run recipes/smollm2-135m/ngram.yaml --prompt "Name three rivers."
      trtspec run engines/NAME-FINGERPRINT --prompts prompts.jsonl --json
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.artifact import open_or_build, terminal_progress
    from trtspec.run import (
        Asked,
        make_requests,
        own_speculation,
        sampling_params,
    )

    asked_prompts = _read_prompts(texts, prompts)[:limit]
    for text in stop:
        if not text:
            raise UsageError("an empty text ends nothing", where="--stop")
        _require_text("--stop", text)
    _require_numbers(sampling)
    progress = terminal_progress(err=True, news_only=True)
    artifact = open_or_build(artifact_or_recipe, engines, progress)
    asked = Asked(
        max_new_tokens=max_tokens,
        sampling=sampling_params(artifact.recipe.sampling, **sampling),
        usual_tokens=_recipe_tokens(artifact),
        stop=stop,
        ignore_eos=ignore_eos,
        speculate=not no_speculation,
        speculation=own_speculation(
            artifact.recipe.speculation, draft_length, lookahead
        ),
        raw=raw,
    )
    runner = runner_for(artifact, device=device, threads=threads)
    try:
        requests = make_requests(runner, asked_prompts, asked)
        _generate(runner, requests, as_json)
    finally:
        runner.close()


def _require_numbers(sampling: dict[str, float | None]) -> None:
    for name, value in sampling.items():
        if value is not None and not math.isfinite(value):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{value} is no number to sample with", where=option)


def _recipe_tokens(artifact: Artifact) -> int:
    workload = artifact.recipe.workload
    return workload.output_tokens if workload else DEFAULT_TOKENS


def _read_prompts(texts: tuple[str, ...], file: Path | None) -> tuple[Prompt, ...]:
    from trtspec.recipe import Prompt, load_prompts

    if texts and file:
        raise UsageError(
            "give either --prompt or --prompts, not both", where="--prompts"
        )
    if file:
        return load_prompts(file, "--prompts", allow_pipe=True)
    named = [(f"--prompt {i}", text) for i, text in enumerate(texts, start=1)]
    named = named or [("stdin", _read_stdin())]
    for name, text in named:
        if not text.strip():
            raise UsageError("the prompt is empty", where=name)
        _require_text(name, text)
    return tuple(
        Prompt(name.removeprefix("--prompt "), "", ({"role": "user", "content": text},))
        for name, text in named
    )


def _require_text(name: str, text: str) -> None:
    """Refuse what the shell passed on that is no text in its encoding."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"not valid UTF-8 at character {error.start}", where=name
        ) from None


def _read_stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "there is no prompt",
            allowed="--prompt TEXT, --prompts FILE, or text on stdin",
        )
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"not valid UTF-8 at byte {error.start}",
            where="stdin",
            action="convert the text to UTF-8",
        ) from None


def _generate(runner: Runner, requests: list[Request], as_json: bool) -> None:
    """Run all requests; show text or JSON lines on stdout, figures on stderr."""
    from trtspec.run import generate
    from trtspec.run.show import OrderedText, json_line, totals

    by_id = {request.id: request for request in requests}
    text = None if as_json else OrderedText(requests, lambda t: click.echo(t, nl=False))
    done: list[Completion] = []
    with _watching(len(requests), as_json) as finished_one:
        for chunk in generate(runner, requests):
            if text:
                text.add(chunk)
            if chunk.completion:
                done.append(chunk.completion)
                finished_one(chunk.completion)
                if as_json:
                    click.echo(json_line(chunk.completion, by_id[chunk.request_id]))
    click.echo(totals(done), err=True)


@contextmanager
def _watching(total: int, as_json: bool) -> Iterator[Callable[[Completion], None]]:
    """Show how many requests are done, unless their text shows it already."""
    if not as_json or total == 1:
        yield lambda completion: None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("requests", total=total)
            yield lambda completion: progress.advance(task)
    else:
        done = 0

        def line(completion: Completion) -> None:
            nonlocal done
            done += 1
            click.echo(f"{done}/{total}: {completion.request_id}", err=True)

        yield line
