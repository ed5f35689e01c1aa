"""How a configuration describes the rotary position encoding of its model.

transformers 4 writes ``rope_theta`` and ``rope_scaling``, transformers 5 one map
``rope_parameters``; a family with several kinds of layers has a map per kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models.json_file import json_name

_NOT_SCALED = ("default", "none")


def number_text(value: float) -> str:
    """Write a base or factor as people do.

    >>> number_text(1000000.0), number_text(1.5)
    ('1000000', '1.5')
    """
    return f"{value:.12g}"


def require_rope(path: Path, config: Mapping[str, Any]) -> None:
    """Refuse a description that is no map: nothing could be read from it.

    :param path: the configuration's file, for messages.
    :raises UsageError: naming the key.
    """
    for key in ("rope_scaling", "rope_parameters"):
        value = config.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(
                f"{key} is {json_name(value)}",
                where=str(path),
                allowed="null, or an object with rope_type and what belongs to it",
                action="fetch the configuration again",
            )


def rope_theta(config: Mapping[str, Any]) -> float | None:
    """Give the base of the encoding; None if the configuration names none for all."""
    parameters = _map(config, "rope_parameters")
    return _number(
        parameters if config.get("rope_theta") is None else config, "rope_theta"
    )


def rope_scaling(config: Mapping[str, Any]) -> str | None:
    """Give the type of its scaling, such as ``llama3``; None if it is not scaled.

    A map that names no type counts as one of type ``unnamed``, and one map per kind of
    layer as ``per layer``.
    """
    found = _scaling(config)
    if not found:
        return None
    named = found.get("rope_type") or found.get("type")
    if named is None and any(isinstance(value, Mapping) for value in found.values()):
        return "per layer"
    kind = str(named or "unnamed")
    return None if kind in _NOT_SCALED else kind


def rope_factor(config: Mapping[str, Any]) -> float | None:
    """Give the factor of its scaling; None if it is not scaled, or names none."""
    return None if rope_scaling(config) is None else _number(_scaling(config), "factor")


def _scaling(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give all keys of the scaling; empty if there are none."""
    parameters = _map(config, "rope_parameters")
    return _map(config, "rope_scaling") or {
        key: value for key, value in parameters.items() if key != "rope_theta"
    }


def _number(config: Mapping[str, Any], key: str) -> float | None:
    value = config.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _map(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = config.get(key)
    return value if isinstance(value, Mapping) else {}
