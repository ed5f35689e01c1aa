"""What requests can ask of a loaded engine: by recipe, release and way to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from packaging.version import Version

from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.controls import EngineShape
from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.serving import metrics, request_fields
from trtspec.trtllm.pytorch.compile.subject import Shape, Subject

PATH: Literal["/v1/completions"] = "/v1/completions"
ENGINES: Mapping[Shape, EngineShape] = {
    "one model": "one-model",
    "two models": "two-model",
    "outside": "two-model",
}
"""Where the drafter runs → the shape of engine that the facts know it by."""
_COUNTERS = "request_perf_metrics"
_EMPTY = ("zero", "absent")


@dataclass(frozen=True, slots=True)
class Reach:
    """What requests can ask of a loaded engine.

    :param method: the recipe's method, by name.
    :param shape: where the drafter runs.
    :param penalties: whether the engine was told to honour penalties under speculation.
    :param guides: whether the engine was built with guided decoding.
    :param over_http: whether requests go through a server.
    """

    method: str
    version: Version
    shape: Shape
    penalties: bool = False
    guides: bool = False
    over_http: bool = False

    @classmethod
    def of(cls, recipe: Recipe, version: Version, *, over_http: bool = False) -> Reach:
        """Tell it from a recipe of backend pytorch.

        :param version: of TensorRT-LLM; one of a family.
        """
        family = family_of(version)
        assert family is not None, "it was required before"
        options = recipe.pytorch or PyTorchOptions()
        return cls(
            recipe.speculation.method,
            version,
            Subject(recipe, version, family).shape,
            options.penalties,
            options.guided_decoding != "none",
            over_http,
        )

    @property
    def counts_requests(self) -> bool:
        """Whether a request's own counters of drafts may be filled; in process only."""
        if self.shape == "none":
            return False
        engine = ENGINES[self.shape]
        told = [m for m in metrics(self.version, engine) if m.where == _COUNTERS]
        return bool(told) and all(metric.fate not in _EMPTY for metric in told)

    @property
    def served(self) -> frozenset[str]:
        """The fields of ``SamplingParams`` that a request to a server can have."""
        fields = request_fields(PATH, self.version).values()
        return frozenset(field.parameter for field in fields)
