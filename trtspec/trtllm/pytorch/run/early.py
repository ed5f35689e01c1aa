"""What of a call can be refused before an engine is opened or a server started."""

from __future__ import annotations

from packaging.version import Version

from trtspec.errors import UsageError
from trtspec.recipe.schema import Recipe
from trtspec.run import Asked, Request
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.pytorch.run.admission import admit, require_one_arm
from trtspec.trtllm.pytorch.run.reach import Reach


def require_possible(
    asked: Asked, prompt_id: str, recipe: Recipe, version: Version | None, *, http: bool
) -> None:
    """Refuse what no prompt could be asked with.

    :param prompt_id: the first prompt's, for messages.
    :param version: the release that will run it; None if that is not known yet, which
        leaves what depends on it to ``PyTorchRunner.submit``.
    :param http: whether requests go through a server.
    :raises UsageError: as ``submit`` does, for a prompt of one token.
    """
    _require_room(asked.max_new_tokens, recipe)
    trial = Request(
        prompt_id,
        (0,),
        asked.max_new_tokens or 1,
        asked.sampling,
        asked.stop,
        asked.ignore_eos,
        asked.speculate,
        asked.speculation,
        asked.controls,
    )
    if version is None or family_of(version) is None:
        require_one_arm(trial, recipe.speculation)
    else:
        admit(trial, recipe, Reach.of(recipe, version, over_http=http))


def _require_room(tokens: int | None, recipe: Recipe) -> None:
    limit = recipe.limits.max_total_tokens
    if tokens is not None and tokens >= limit:
        raise UsageError(
            f"{tokens} output tokens leave no room for a prompt",
            where="--max-tokens",
            allowed=f"up to {limit - 1}: prompt and output have limits.max_total_tokens"
            f" = {limit} together",
            action="ask for fewer output tokens, or raise the limit in the recipe",
        )
