"""Which family each model is of, by its checkpoint or by the recipe."""

from __future__ import annotations

from trtspec.check.subject import Role, Subject
from trtspec.methods import DraftTarget
from trtspec.models.info import ModelInfo


def stated_family(subject: Subject, role: Role) -> str | None:
    """Give the family that the recipe says a model will be of."""
    if role == "target":
        return subject.recipe.target.family
    method = subject.recipe.speculation
    return method.family if isinstance(method, DraftTarget) else None


def model_of(subject: Subject, role: Role) -> ModelInfo | None:
    """Give a model, if it is known."""
    return subject.target if role == "target" else subject.draft


def family_of(subject: Subject, role: Role) -> str | None:
    """Give the family of a model, or what the recipe says it will be."""
    model = model_of(subject, role)
    return model.family if model is not None else stated_family(subject, role)
