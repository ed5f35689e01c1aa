"""``trtspec inspect``: what a checkpoint really is, from its headers alone."""

from __future__ import annotations

import click

from trtspec.cli.common import json_option, print_json
from trtspec.cli.paths import InputPath


@click.command("inspect")
@click.argument("model", type=InputPath())
@click.option("--target", help="Target model that it is to draft for: does it fit?")
@click.option(
    "--trtllm", metavar="VERSION", help="Say what this release of TensorRT-LLM needs."
)
@json_option
def command(model: str, target: str | None, trtllm: str | None, as_json: bool) -> None:
    """Say what MODEL really is: a model, a drafter, an engine or an artifact.

    MODEL is a directory, a Hugging Face id in the local hub cache, or demo:NAME. Reads
    configurations and headers, never weights. Exits with 2 if something is damaged or
    unknown, after saying what could be read; with 3 if it does not fit the target.

    \b
    Examples:
      trtspec inspect path/to/head --target path/to/target
      trtspec inspect demo:smollm2-135m-instruct --json
    """  # noqa: D301  click wants the backspace itself
    from trtspec.cli.inspect_scope import scope_for
    from trtspec.cli.inspecting import (
        inspect_all,
        inspect_target,
        refuse_problems,
        refuse_unfit,
    )
    from trtspec.models.inspection_fit import Comparison, compare

    parts = inspect_all(model, "MODEL")
    aimed = None if target is None else inspect_target(target)
    scope = scope_for(trtllm, aimed)
    compared = [
        Comparison() if aimed is None else compare(part.inspection, aimed)
        for part in parts
    ]
    if as_json:
        from trtspec.cli.inspect_document import document

        print_json(document(model, parts, compared, scope))
    else:
        from trtspec.cli.inspect_text import lines

        click.echo("\n".join(lines(parts, compared, scope)))
    refuse_problems([*(part.inspection for part in parts), *([aimed] if aimed else [])])
    refuse_unfit(model, [fit for part in compared for fit in part.fits])
