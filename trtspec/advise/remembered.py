"""Which models a recipe means, looked at once for all recipes that name them."""

from __future__ import annotations

from collections.abc import Hashable

from trtspec.check.checks import Find
from trtspec.check.resolve import Resolved, resolve
from trtspec.check.subject import Role
from trtspec.models.drafter_files import loader_of
from trtspec.recipe.load import LoadedRecipe


def remembering() -> Find:
    """Give what resolves models, and keeps what it has found.

    Large checkpoints have a hundred thousand tensors, and every way to speculate names
    the same target.
    """
    known: dict[Hashable, Resolved] = {}

    def find(loaded: LoadedRecipe, role: Role) -> Resolved:
        key = _key(loaded, role)
        if key not in known:
            known[key] = resolve(loaded, role)
        return known[key]

    return find


def _key(loaded: LoadedRecipe, role: Role) -> Hashable:
    """Give all that decides what is found, the place of the finding among it."""
    recipe = loaded.recipe
    named: Hashable = (recipe.target.model, recipe.target.revision)
    if role == "draft":
        method = recipe.speculation
        revision = getattr(method, "revision", None)
        named = (method.draft_model, revision, method.drafter_kind)
    return role, named, loader_of(recipe.backend), loaded.where()
