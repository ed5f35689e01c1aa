"""How a configuration describes the rotary position encoding of its model.

transformers 4 writes ``rope_theta`` and ``rope_scaling``, transformers 5 one map
``rope_parameters``; a family with several kinds of layers has a map per kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NOT_SCALED = ("default", "none")


def rope_theta(config: Mapping[str, Any]) -> float | None:
    """Give the base of the encoding; None if the configuration names none for all."""
    value = config.get("rope_theta")
    if value is None:
        value = _map(config, "rope_parameters").get("rope_theta")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def rope_scaling(config: Mapping[str, Any]) -> str | None:
    """Give the type of its scaling, such as ``llama3``; None if it is not scaled.

    A map that names no type counts as one of type ``unnamed``, and one map per kind of
    layer as ``per layer``.
    """
    scaling = _map(config, "rope_scaling")
    parameters = _map(config, "rope_parameters")
    found = scaling or {k: v for k, v in parameters.items() if k != "rope_theta"}
    if not found:
        return None
    named = found.get("rope_type") or found.get("type")
    if named is None and any(isinstance(value, Mapping) for value in found.values()):
        return "per layer"
    kind = str(named or "unnamed")
    return None if kind in _NOT_SCALED else kind


def _map(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = config.get(key)
    return value if isinstance(value, Mapping) else {}
