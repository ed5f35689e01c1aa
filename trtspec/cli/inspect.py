"""``trtspec inspect``: what a checkpoint really is, from its headers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trtspec.cli.common import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packaging.version import Version

    from trtspec.methods.catalogue import Place


@click.command("inspect")
@click.argument("model")
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
    from trtspec.cli.inspecting import (
        inspect_all,
        inspect_target,
        refuse_problems,
        refuse_unfit,
    )
    from trtspec.models.inspection_fit import fits

    version = _version(trtllm)
    parts = inspect_all(model, "MODEL")
    aimed = None if target is None else inspect_target(target)
    found = [fits(part.inspection, aimed) if aimed else () for part in parts]
    places = _places(version)
    if as_json:
        from trtspec.cli.inspect_document import document

        print_json(document(model, parts, found, places, version))
    else:
        from trtspec.cli.inspect_text import lines

        click.echo("\n".join(lines(parts, found, places, version)))
    refuse_problems([*(part.inspection for part in parts), *([aimed] if aimed else [])])
    refuse_unfit(model, [fit for part in found for fit in part])


def _version(trtllm: str | None) -> Version | None:
    if trtllm is None:
        return None
    from trtspec.trtllm.installation import assumed_for

    return assumed_for(trtllm).version


def _places(version: Version | None) -> Sequence[Place]:
    """Give the places to look at: all, or those that a release of TensorRT-LLM has."""
    from trtspec.methods.catalogue import PLACES

    if version is None:
        return PLACES
    from trtspec.trtllm import facts
    from trtspec.trtllm.facts.families import family_of

    return tuple(
        place
        for place in PLACES
        if place.backend == "reference"
        or (place.backend == "tensorrt" and facts.has_backend(version))
        or (place.family != "" and place.family == family_of(version))
    )
