"""What of an artifact is priced: its models as they would lie on GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.build.artifact import Artifact
from trtspec.check.memory.cache_types import draft_cache_type, target_cache_type
from trtspec.check.memory.parallel import draft_parallel, target_parallel
from trtspec.errors import UsageError
from trtspec.methods import DraftTarget, Method
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.drafter_files import Loader
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe
from trtspec.tune.price.parts import Placed

LOADER: Loader = "reference"
"""Traces are of artifacts of backend reference, wherever they are deployed."""

SERVED = "bfloat16"
"""What a GPU serves a model in that the recipe has in float32."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is priced.

    :param draft: of a method with a draft model.
    :param drafter: of a method with trained parts instead.
    :param assumed: what was decided that the recipe does not say.
    """

    name: str
    method: Method
    target: Placed
    draft: Placed | None = None
    drafter: DrafterInfo | None = None
    assumed: tuple[str, ...] = ()

    @property
    def gpus(self) -> int:
        """GPUs that share the target."""
        return self.target.parallel.gpus


def subject_of(artifact: Artifact, method: Method) -> Subject:
    """Describe the models of an artifact, from their headers.

    :param method: with the longest draft that is looked at.
    :raises UsageError: if a checkpoint is damaged, or cannot be priced at all.
    """
    recipe, assumed = _served(artifact.recipe)
    target = describe(artifact.target)
    refuse_latent_attention(target, artifact.name)
    placed = Placed(
        target,
        recipe.target.dtype,
        recipe.target.quantization,
        target_cache_type(recipe, target),
        target_parallel(recipe),
    )
    draft, drafter = None, None
    if artifact.draft is not None:
        if method.drafter_kind in (None, "model"):
            draft = _draft(recipe, method, describe(artifact.draft))
        else:
            drafter = describe_drafter(artifact.draft, method.drafter_kind, LOADER)
    return Subject(artifact.name, method, placed, draft, drafter, assumed)


def refuse_latent_attention(model: ModelInfo, where: str) -> None:
    """Refuse what no way of pricing tells apart.

    :raises UsageError: for a model with multi-head latent attention.
    """
    if model.latent_size is None:
        return
    raise UsageError(
        f"{model.architecture} has latent attention (MLA), whose cost with several "
        "tokens per request is in no table: it is one operation with its projections",
        where=where,
        allowed="a target with another attention",
        action="measure its steps where it runs",
    )


def _draft(recipe: Recipe, method: Method, model: ModelInfo) -> Placed:
    refuse_latent_attention(model, recipe.name)
    own = method.quantization if isinstance(method, DraftTarget) else "none"
    kind = draft_cache_type(recipe, model)
    return Placed(model, recipe.target.dtype, own, kind, draft_parallel(recipe))


def _served(recipe: Recipe) -> tuple[Recipe, tuple[str, ...]]:
    """Give the recipe as a GPU would serve it."""
    if recipe.target.dtype != "float32":
        return recipe, ()
    target = recipe.target.model_copy(update={"dtype": SERVED})
    told = f"the recipe has dtype float32; priced as {SERVED}, as a GPU would serve it"
    return recipe.model_copy(update={"target": target}), (told,)
