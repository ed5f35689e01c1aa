"""``trtspec init``: which methods a target can use here, and a recipe to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.asked_gpus import gpu_option
from trtspec.cli.checking import findings_of
from trtspec.cli.common import (
    examples_option,
    installation_for,
    json_option,
    print_json,
    trtllm_option,
)

if TYPE_CHECKING:
    from trtspec.advise import Advice
    from trtspec.check.finding import Finding
    from trtspec.gpu_kinds import GpuRequest
    from trtspec.recipe.load import LoadedRecipe
    from trtspec.trtllm.installation import Installation

_STDOUT, _RECIPE = "-", "recipe.yaml"
_BACKENDS = ("tensorrt", "pytorch", "reference")
_OF_ONE_MACHINE = 8


@click.command("init")
@click.argument("target")
@click.option(
    "--workload",
    metavar="FILE",
    help="Prompts (JSONL): limits and the worth of copying are read from it.",
)
@trtllm_option
@examples_option
@gpu_option
@click.option(
    "--backend",
    type=click.Choice(_BACKENDS),
    help="The only backend to consider; what is installed, or assumed, if unset.",
)
@click.option(
    "--draft",
    "drafts",
    multiple=True,
    metavar="MODEL",
    help="A drafter that you have: directory or Hugging Face id; may be repeated.",
)
@click.option("--method", help="Write this method's recipe instead of the best.")
@click.option(
    "--out",
    help="The recipe to write; recipe.yaml if unset, - for stdout. With --json "
    "none is written unless this is given.",
)
@click.option("--force", is_flag=True, help="Overwrite the recipe if it is there.")
@json_option
def command(
    target: str,
    *,
    workload: str | None,
    trtllm: str | None,
    examples: Path | None,
    gpu: GpuRequest | None,
    backend: str | None,
    drafts: tuple[str, ...],
    method: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """List the methods that TARGET can use, and write a recipe to start from.

    TARGET is a directory, a Hugging Face id or demo:smollm2-135m-instruct. Reads
    configurations, headers and prompts; downloads nothing. Every listed way is held
    against trtspec check; the order is reasoned, not measured.

    \b
    Examples:
      trtspec init demo:smollm2-135m-instruct --workload prompts.jsonl
      trtspec init meta-llama/Llama-3.1-8B-Instruct --trtllm 1.2.1 --out -
    """  # noqa: D301  click wants the backspace itself
    from trtspec.advise import Question, advise, remembering
    from trtspec.cli.init_file import folder_for, refuse_to_overwrite, write_recipe

    if out is None and not as_json:
        out = _RECIPE
    path = Path(_RECIPE if out in (None, _STDOUT) else str(out))
    if out not in (None, _STDOUT):
        refuse_to_overwrite(path, force=force)
    _refuse_unknown_method(method)
    installation = installation_for(trtllm, examples)
    find = remembering()

    def check(loaded: LoadedRecipe) -> list[Finding]:
        return findings_of(loaded, trtllm=trtllm, examples=examples, gpu=gpu, find=find)

    question = Question(
        target=target,
        recipe=path,
        base=Path(),
        workload=workload,
        drafts=drafts,
        backends=(backend,) if backend else _backends(installation),
        version=installation.version,
        method=method,
        most_gpus=_most_gpus(installation, gpu),
    )
    with folder_for(path.parent):  # a path that leads out of it has to exist
        advice = advise(question, check)
        text = _answer(advice, to_stdout=out == _STDOUT, as_json=as_json)
        if not text:
            raise _nothing_usable(advice, method)
        if out not in (None, _STDOUT):
            write_recipe(path, text, quiet=as_json)


def _answer(advice: Advice, *, to_stdout: bool, as_json: bool) -> str:
    """Print what can be used; gives the recipe, empty if there is none."""
    from trtspec.advise.explaining import written_recipe

    chosen = advice.chosen
    text = written_recipe(advice, chosen) if chosen is not None else ""
    if as_json:
        from trtspec.cli.init_document import advice_document

        print_json(advice_document(advice, text))
    else:
        _say_ways(advice, err=to_stdout)
        click.echo(text if to_stdout else "", nl=False)
    return text


def _say_ways(advice: Advice, *, err: bool) -> None:
    from trtspec.cli.init_text import advice_lines

    click.echo("\n".join(advice_lines(advice)), err=err)


def _refuse_unknown_method(method: str | None) -> None:
    from trtspec.advise.starting_points import METHODS_TO_START
    from trtspec.errors import UsageError

    if method is not None and method not in METHODS_TO_START:
        raise UsageError(
            f"there is no method {method!r} to start with",
            where="--method",
            allowed=", ".join(METHODS_TO_START),
        )


def _nothing_usable(advice: Advice, method: str | None) -> Exception:
    """Say that there is no recipe, with what keeps the method that was asked for."""
    from trtspec.errors import FindingsError

    if method is None:
        why = "no way is usable, for the reasons above"
    else:
        asked = [one for one in advice.candidates if one.method == method]
        reasons = (f"on {one.backend}: {'; '.join(one.needs)}" for one in asked)
        why = f"{method} is not usable {'; '.join(dict.fromkeys(reasons))}"
    return FindingsError(
        f"no recipe was written: {why}",
        where=advice.target.text,
        action="act on that, or choose another --backend, --trtllm or --method",
    )


def _backends(installation: Installation) -> tuple[str, ...]:
    """Name the backends of an installation; the embedded one where there is none."""
    from trtspec.trtllm.facts import has_backend
    from trtspec.trtllm.facts.families import family_of

    version = installation.version
    if version is None:
        return ("reference",)
    found = ["pytorch"] if family_of(version) else []
    if has_backend(version):
        found.append("tensorrt")
    return tuple(found) or ("reference",)


def _most_gpus(installation: Installation, asked: GpuRequest | None) -> int:
    """Say how many GPUs can share the target: those of one machine, if not told."""
    if asked is not None:
        return asked.count or _OF_ONE_MACHINE
    return max(1, len(installation.gpus))
