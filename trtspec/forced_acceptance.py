"""Which settings make an engine accept a set number of draft tokens, right or wrong.

They are aids for capacity planning: the text is meaningless with them, and no speed-up
is one. Engines count differently: TensorRT-LLM draft tokens only, the others all tokens
of a step, the bonus token included.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trtspec.errors import Problem, UsageError

TENSORRT_LLM, SGLANG, VLLM = "TensorRT-LLM", "SGLang", "vLLM"


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that forces acceptance.

    :param name: of the environment variable, or the key.
    :param bonus: 1 if its value leaves the bonus token out, else 0.
    :param source: where the engine reads it.
    """

    name: str
    engine: str
    bonus: int
    source: str


VARIABLES = (
    Switch(
        "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS",
        TENSORRT_LLM,
        1,
        "tensorrt_llm/_torch/speculative/interface.py; the one-model engines of late "
        "releases read a fraction, all others a whole number",
    ),
    Switch("SGLANG_SIMULATE_ACC_LEN", SGLANG, 0, "python/sglang/srt/environ.py"),
)
"""Environment variables. vLLM has none: see ``forced_settings``."""

_VLLM_SOURCE = "vllm/config/speculative.py"
_SYNTHETIC = "rejection_sample_method"
_LENGTH, _RATES = "synthetic_acceptance_length", "synthetic_acceptance_rates"


@dataclass(frozen=True, slots=True)
class Forced:
    """A setting that is in force.

    :param value: as it is written.
    :param acceptance_length: that it asks for, bonus token included; None if it does
        not say. An engine never exceeds its own draft length + 1.
    """

    switch: Switch
    value: str
    acceptance_length: float | None

    def __str__(self) -> str:
        length = self.acceptance_length
        told = "" if length is None else f" (acceptance length {length:g})"
        return (
            f"{self.value!r} forces the number of accepted draft tokens in "
            f"{self.switch.engine}{told}"
        )


def forced_variables(environment: Mapping[str, str]) -> tuple[Forced, ...]:
    """Give the variables that are in force; one that the engine ignores is not.

    0 means off to TensorRT-LLM, and so does text that is no number; SGLang's is off
    unless it is above 0.
    """
    found = []
    for switch in VARIABLES:
        text = environment.get(switch.name, "").strip()
        value = _number(text)
        if value is None or value == 0 or (value < 0 and not switch.bonus):
            continue
        found.append(Forced(switch, text, max(value, 0.0) + switch.bonus))
    return tuple(found)


def forced_settings(settings: Mapping[str, object]) -> Iterator[Forced]:
    """Give what forces acceptance in settings of vLLM, however deep it stands.

    :param settings: such as a server's configuration with ``speculative_config``,
        which may be JSON text, as on vLLM's command line.
    """
    left: list[object] = [settings]  # not by recursion: a file may nest too deep
    while left:
        found = _parsed(left.pop())
        if isinstance(found, Mapping):
            if found.get(_SYNTHETIC) == "synthetic":
                switch = Switch(_SYNTHETIC, VLLM, 0, _VLLM_SOURCE)
                yield Forced(switch, "synthetic", _vllm_length(found))
            found = list(found.values())
        if isinstance(found, list | tuple):
            left.extend(reversed(found))


def refuse_forced_acceptance(
    environment: Mapping[str, str], engines: tuple[str, ...], consequence: str
) -> None:
    """Refuse an environment that makes text and figures meaningless.

    :param engines: whose variables count.
    :param consequence: what comes of it, behind a colon.
    :raises UsageError: naming each variable that is in force.
    """
    found = [f for f in forced_variables(environment) if f.switch.engine in engines]
    if found:
        raise UsageError.from_problems(
            [_problem(forced, consequence) for forced in found]
        )


def _problem(forced: Forced, consequence: str) -> Problem:
    name = forced.switch.name
    return Problem(f"{forced}: {consequence}", f"${name}", action=f"unset {name}")


def _vllm_length(settings: Mapping[str, object]) -> float | None:
    """The acceptance length: given, or 1 + the sum of the rates per position."""
    length, rates = settings.get(_LENGTH), settings.get(_RATES)
    if isinstance(length, int | float):
        return float(length)
    if isinstance(rates, list) and all(isinstance(r, int | float) for r in rates):
        return 1.0 + sum(rates)
    return None


def _parsed(value: object) -> object:
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        parsed: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
