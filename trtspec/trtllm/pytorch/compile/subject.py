"""What is being compiled: a recipe, for one version, on one kind of engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from packaging.version import Version

from trtspec.methods import ChainMethod, DraftTarget, Eagle3, Method
from trtspec.models import ModelInfo
from trtspec.recipe import Recipe
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.trtllm.facts.combinations import OUTSIDE
from trtspec.trtllm.facts.families import Family
from trtspec.trtllm.facts.llm_args import BASE
from trtspec.trtllm.pytorch.compile import schedule
from trtspec.trtllm.pytorch.compile.driven import Drafting
from trtspec.trtllm.pytorch.compile.known import knows
from trtspec.trtllm.pytorch.settings import Remark, Setting

Item = Setting | Remark
"""What the parts of the compiler give: a line of the YAML, or a word about it."""
Shape = Literal["none", "one model", "two models", "outside"]
"""Where the drafter runs: nowhere, in the target's engine, in an engine of its own, or
outside of any model (n-gram, a drafter of the user's own)."""

EARLY: tuple[Family, ...] = ("1.0", "1.1", "1.2")
"""The families that can run drafter and target as two models."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A recipe of backend pytorch, and the version that it is compiled for.

    :param target: what is known of the target's checkpoint; None if nothing is.
    """

    recipe: Recipe
    version: Version
    family: Family
    target: ModelInfo | None = None

    @property
    def options(self) -> PyTorchOptions:
        """The recipe's section for this backend, or one of defaults."""
        return self.recipe.pytorch or PyTorchOptions()

    @property
    def method(self) -> Method:
        """The speculation method."""
        return self.recipe.speculation

    @property
    def batch(self) -> int:
        """Requests that run at once."""
        return self.recipe.limits.max_batch_size

    @property
    def length(self) -> int | Mapping[int, int]:
        """The draft length, as far as batches can get; 0 if the method has none."""
        if not isinstance(self.method, ChainMethod):
            return 0
        return schedule.reachable(self.method.draft_length, self.batch)

    @property
    def shape(self) -> Shape:
        """Where the drafter runs."""
        method = self.method
        if method.method == "none":
            return "none"
        if method.method in OUTSIDE:
            return "outside"
        if self.family not in EARLY:
            return "one model"
        if isinstance(method, Eagle3):
            return "two models" if self._eagle3_as_two(method) else "one model"
        return "two models" if isinstance(method, DraftTarget) else "one model"

    def _eagle3_as_two(self, method: Eagle3) -> bool:
        if method.two_model is not None:
            return method.two_model
        return self.by_batch_as_two_models

    @property
    def drafting(self) -> Drafting:
        """What the drafter follows, by method, release and shape."""
        return Drafting(
            self.method.method,
            self.family,
            two_models=self.shape == "two models",
            vanilla=bool(getattr(self.method, "vanilla", False)),
            dynamic_tree=bool(getattr(self.method, "tree", None)),
        )

    @property
    def is_driven(self) -> bool:
        """Whether an object outside the engine drives the drafter, told by the YAML.

        A drafter of the user's own and AUTO have no keys to be told by.
        """
        return self.drafting.is_driven and self.method.method not in ("user", "auto")

    @property
    def by_batch_as_two_models(self) -> bool:
        """Whether EAGLE-3's map can be had, but by two models only.

        Up to 1.2 the draft length is changed by the object that drives a second engine;
        a one-model engine has none and cannot leave drafting out at run time
        (tensorrt_llm/_torch/pyexecutor/model_engine.py).
        """
        length = self.length
        if isinstance(length, int) or not isinstance(self.method, Eagle3):
            return False
        if len(length) == 1:
            return self.family in ("1.1", "1.2")
        return self.family == "1.2" and schedule.starts_longest(length)

    @property
    def has_schedule(self) -> bool:
        """Whether the YAML gets a ``draft_len_schedule``."""
        length = self.length
        if isinstance(length, int) or not schedule.starts_longest(length):
            return False
        if not self.drafting.follows_schedule or self.method.method == "user":
            return False
        return self.family == "main" or len(length) > 1

    def knows(self, key: str, class_name: str = BASE) -> bool:
        """Whether the version has a key that is not on its way out."""
        return knows(key, class_name, self.version)


def blocking(
    rule: str,
    key: tuple[str | int, ...],
    what: str,
    why: str,
    action: str,
    *,
    snippet: str = "",
    source: str = "",
    values: Mapping[str, object] = MappingProxyType({}),
) -> Remark:
    """Say what cannot be expressed, and the nearest that can."""
    return Remark(
        rule,
        "blocking",
        key,
        what,
        why,
        action,
        snippet=snippet,
        source=source,
        values=dict(values),
    )
