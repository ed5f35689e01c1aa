"""What a release of TensorRT-LLM would not honour in a request, before it is sent.

The facts are those that ``trtspec run`` goes by: ``trtspec.trtllm.pytorch.run``. What a
release drops in silence, or rejects, is refused with the reason; what it honours in
part, or what no source settles, is let through with a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.methods import lossy_reason
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.controls import sampling_controls
from trtspec.trtllm.facts.serving import RequestField, RequestPath, request_fields
from trtspec.trtllm.pytorch.run.control_names import ONE_OUTPUT
from trtspec.trtllm.pytorch.run.fates import why_unhonoured
from trtspec.trtllm.pytorch.run.reach import ENGINES, Reach
from trtspec.trtllm.pytorch.run.sampling import GUIDED

BACKEND = "pytorch"
_NEUTRAL: Mapping[str, object] = {"repetition_penalty": 1.0, "n": 1, "best_of": 1}
"""Values that ask for nothing, where that is not null, false, 0 or empty."""
_BY_LOSS = frozenset({"temperature", "top_k", "top_p"})
"""Whether these are honoured decides whether sampled output is lossy: told as that."""
_TOLERATED = ("partial", "not established")


fields_of = cache(request_fields)
"""The fields of a release, looked up once: a request is to cost no millisecond."""


@dataclass(frozen=True, slots=True)
class Screened:
    """What is to be said of a request.

    :param refusals: why it is not to be sent.
    :param warnings: what its answer may lack.
    :param lossy: why the output need not be the target model's own; empty if it is.
    """

    refusals: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    lossy: str = ""


@dataclass(frozen=True, slots=True)
class Screen:
    """Looks at requests to the server of one recipe.

    :param version: of TensorRT-LLM; one of a family.
    """

    recipe: Recipe
    version: Version
    _reach: Reach = field(init=False)

    def __post_init__(self) -> None:
        reach = Reach.of(self.recipe, self.version, over_http=True)
        object.__setattr__(self, "_reach", reach)

    def look(self, path: RequestPath, body: Mapping[str, Any]) -> Screened:
        """Say what becomes of a request.

        Names that the release's facts do not have are left to the server, which
        refuses those that it does not know.

        :param body: of the request, as it would be sent.
        """
        known = fields_of(path, self.version)
        sampled = _is_sampled(body, known)
        refusals: list[Problem] = []
        warnings: list[str] = []
        for name, parameter in _asked(body, known):
            if parameter in _BY_LOSS or (parameter == "seed" and not sampled):
                continue
            found = self._fault(parameter)
            if found and self._is_tolerated(parameter):
                warnings.append(f"{name}: {found.what}")
            elif found:
                refusals.append(Problem(found.what, name, found.allowed, found.action))
        lossy = self.lossy_reason(sampled=sampled)
        if lossy and not self.recipe.speculation.lossy_allowed:
            refusals.append(self._loss(lossy, sampled=sampled))
        return Screened(tuple(refusals), tuple(warnings), lossy)

    def lossy_reason(self, *, sampled: bool) -> str:
        """Say why output is not the target model's own; empty if it is."""
        method = self.recipe.speculation
        return lossy_reason(method, BACKEND, self.version, sampled=sampled)

    def _fault(self, parameter: str) -> Problem | None:
        if parameter in ONE_OUTPUT:
            return self._several_outputs(parameter)
        return why_unhonoured(parameter, self._reach)

    def _several_outputs(self, parameter: str) -> Problem | None:
        """Beams and several answers: ``trtspec run`` has a reason of its own."""
        if self._reach.shape == "none" or self._fate(parameter) == "honoured":
            return None
        return Problem(
            f"whether TensorRT-LLM {self.version} honours {parameter} under speculation"
            " is not established"
        )

    def _is_tolerated(self, parameter: str) -> bool:
        if parameter == GUIDED or self._reach.shape == "none":
            return False
        return self._fate(parameter) in _TOLERATED

    def _fate(self, parameter: str) -> str:
        if self._reach.shape == "none":
            return "honoured"
        known = sampling_controls(self.version, ENGINES[self._reach.shape])
        control = known.get(parameter)
        return control.fate if control else "not established"

    def _loss(self, reason: str, *, sampled: bool) -> Problem:
        how = "a temperature above 0" if sampled else "greedy decoding"
        greedy_is_exact = sampled and not self.lossy_reason(sampled=False)
        return Problem(
            f"{how} with {self.recipe.speculation.method} would be lossy: {reason}",
            "temperature",
            "temperature 0" if greedy_is_exact else "no request to this recipe",
            "ask for that, or write speculation.allow_lossy: true in the recipe; every "
            "answer then says that it is lossy",
        )


def _asked(
    body: Mapping[str, Any], known: Mapping[str, RequestField]
) -> Iterator[tuple[str, str]]:
    """Give the fields that ask for something, each with its ``SamplingParams`` name."""
    for name, value in body.items():
        known_field = known.get(name)
        if known_field is None or not known_field.parameter:
            continue
        parameter = known_field.parameter
        if _asks(parameter, value, known_field):
            yield name, parameter


def _asks(parameter: str, value: object, known_field: RequestField) -> bool:
    if parameter == GUIDED:
        return isinstance(value, Mapping) and value.get("type", "text") != "text"
    if parameter == "logprobs":
        # of completions 0 asks for the token's own; of a chat it is no answer
        return value is not None and value is not False and known_field.default != value
    if parameter == "seed":
        return value is not None
    return bool(value) and value not in (_NEUTRAL.get(parameter), known_field.default)


def _is_sampled(body: Mapping[str, Any], known: Mapping[str, RequestField]) -> bool:
    """Whether the server would draw tokens: unset, it samples at temperature 1."""
    temperature = body.get("temperature")
    if temperature is None and "temperature" in known:
        temperature = known["temperature"].default
    return temperature != 0 and body.get("top_k") != 1
