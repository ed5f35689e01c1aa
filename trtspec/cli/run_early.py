"""What ``trtspec run`` refuses before anything is built, which may take hours."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trtspec.cli.runners import (
    refuse_early,
    refuse_servers,
    refuse_torch_options,
)
from trtspec.forced_acceptance import (
    TENSORRT_LLM,
    forced_variables,
    refuse_forced_acceptance,
)

if TYPE_CHECKING:
    from trtspec.recipe import Recipe
    from trtspec.run import Asked


def recipe_to_build(path: Path) -> Recipe | None:
    """Give the recipe of a file that is to be built; None for an artifact.

    :raises TrtspecError: as ``load_recipe`` does.
    """
    if not path.is_file():
        return None  # whoever opens the artifact says what is wrong with it
    from trtspec.recipe.load import load_recipe

    return load_recipe(path).recipe


def refuse_impossible(
    recipe: Recipe,
    asked: Asked,
    prompt_id: str,
    *,
    device: str | None,
    threads: int | None,
    url: str | None,
    server: bool,
) -> None:
    """Refuse what no artifact of the recipe could be run with.

    Acceptance that a variable forces makes text meaningless on backend pytorch alone:
    TensorRT engines and the reference engine do not read it, and that is told. At a URL
    it is the server's environment that counts.

    :param prompt_id: the first prompt's, for messages.
    :raises UsageError: with the option, the variable or the request.
    """
    if recipe.backend == "pytorch":
        refuse_torch_options(recipe, device, threads)
        if url is None:
            consequence = "the text would be meaningless"
            refuse_forced_acceptance(os.environ, (TENSORRT_LLM,), consequence)
        else:
            from trtspec.trtllm.pytorch.run.server_check import base_url

            base_url(url)
    else:
        refuse_servers(recipe, url, server=server)
        if recipe.backend == "tensorrt":
            refuse_torch_options(recipe, device, threads)
        _tell_without_effect(recipe.backend)
    refuse_early(recipe, asked, prompt_id, url, server=server)


def _tell_without_effect(backend: str) -> None:
    for forced in forced_variables(os.environ):
        if forced.switch.engine == TENSORRT_LLM:
            click.echo(
                f"${forced.switch.name} has no effect: backend {backend} does not read "
                "it",
                err=True,
            )
