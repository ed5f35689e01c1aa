"""Which methods a checkpoint can serve on which backend, and what it lacks for it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from packaging.version import Version

from trtspec.methods.catalogue import METHODS, Place, Standing, settings, standings
from trtspec.models.drafter import DrafterInfo
from trtspec.models.drafter_files import loader_of
from trtspec.models.eagle3_head import needed_changes, unread_layers
from trtspec.models.families import reference_refuses
from trtspec.models.info import ModelShape
from trtspec.models.inspection import Inspection
from trtspec.models.stored_record import attempt

_NOT_DRAFTING = ("none", "auto", "user")


@dataclass(frozen=True, slots=True)
class Service:
    """One method that a checkpoint can serve.

    :param role: ``target`` or ``drafter``.
    :param standings: per place what the method does to the output there; of places
        whose backend does not read the checkpoint, that it does not run.
    :param unread: backend → why it does not take the checkpoint for this method.
    """

    method: str
    role: str
    standings: tuple[Standing, ...]
    unread: dict[str, str]


@dataclass(frozen=True, slots=True)
class Need:
    """What a checkpoint lacks for TensorRT-LLM.

    :param snippet: to be copied: lines of config.json, or of a recipe.
    :param where: what the snippet belongs into.
    """

    what: str
    where: str
    snippet: str


EngineFamilies = Mapping[str, Collection[str]]
"""Method → model families (``model_type``) that backend tensorrt takes as its target;
under ``none`` those that it builds as they are, such as draft models."""


def services(
    found: Inspection,
    places: Iterable[Place],
    families: EngineFamilies | None = None,
    target: Inspection | None = None,
) -> tuple[Service, ...]:
    """Give the methods that a checkpoint serves, as target or as drafter.

    :param places: only these are looked at.
    :param families: None if it does not matter which backend tensorrt takes.
    :param target: that it is to draft for; None if that is not known.
    """
    wanted = tuple(places)
    roles = sorted(_methods(found), key=lambda one: one[1], reverse=True)
    aimed = None if target is None else target.shape
    return tuple(
        _service(
            method,
            role,
            wanted,
            _not_built(method, role, found.shape, aimed, families or {})
            | _refused_target(role, aimed)
            | _unread(found),
        )
        for method, role in roles
    )


def _not_built(
    method: str,
    role: str,
    own: ModelShape | None,
    aimed: ModelShape | None,
    families: EngineFamilies,
) -> dict[str, str]:
    """Say that backend tensorrt does not build a family that takes part."""
    if method not in families:
        return {}
    wanted = [(method, own)] if role == "target" else [("none", own), (method, aimed)]
    for built_as, shape in wanted:
        allowed = families.get(built_as, ())
        if shape is not None and shape.family not in allowed:
            what = f"{method} is" if built_as == method else "draft models are"
            why = f"{what} not established for the family {shape.family} there, but for"
            return {"tensorrt": f"{why} {', '.join(sorted(allowed)) or 'none'}"}
    return {}


def _refused_target(role: str, aimed: ModelShape | None) -> dict[str, str]:
    """Say that the reference engine cannot run what a drafter is to draft for."""
    if role != "drafter" or aimed is None:
        return {}
    why = reference_refuses(aimed)
    return {"reference": f"of the target, {why}"} if why else {}


def needs(found: Inspection, version: Version | None) -> tuple[Need, ...]:
    """Say what a drafter needs added so that TensorRT-LLM loads it.

    :param version: of TensorRT-LLM; None for any release.
    """
    reading = (found.readings or {}).get("tensorrt_llm")
    info = None if reading is None else reading.info
    if info is None:
        return ()
    made: list[Need] = []
    if info.kind == "eagle3":
        changes = attempt(lambda: needed_changes(info), []) or ()
        made += (
            Need(
                f"{change.key}: {change.why}",
                "config.json",
                f'"{change.key}": {json.dumps(change.new)}',
            )
            for change in changes
        )
        if version is not None and (why := unread_layers(info, version)):
            made.append(Need(f"layers called {info.layer_prefix}: {why}", "", ""))
    if info.kind == "medusa" and info.heads is not None and info.is_counted:
        lines = ["speculation:", "  method: medusa", f"  num_heads: {info.heads}"]
        if info.head_layers is not None:
            lines.append(f"  num_layers: {info.head_layers}")
        what = "num_heads and num_layers of backend tensorrt, from the tensors"
        made.append(Need(what, "the recipe", "\n".join(lines)))
    return tuple(made)


def _methods(found: Inspection) -> Iterator[tuple[str, str]]:
    """Give method and role: a model is a target, and a drafter for a larger one."""
    for name, kind in METHODS.items():
        if found.kind == "model":
            alone = kind.drafter_kind is None and name not in _NOT_DRAFTING
            if alone or (name == "mtp" and _has_heads(found)):
                yield name, "target"
            elif kind.drafter_kind == "model" and (
                name != "pard" or _has_mask_token(found)
            ):
                yield name, "drafter"
        elif found.kind is not None and kind.drafter_kind == found.kind:
            yield name, "drafter"


def _has_mask_token(found: Inspection) -> bool:
    return found.shape is not None and found.shape.mask_token is not None


def _has_heads(found: Inspection) -> bool:
    stored = None if found.model is None else found.model.stored_next_token_heads
    said = None if found.shape is None else found.shape.next_token_heads
    return bool(said if stored is None else stored)


def _service(
    method: str, role: str, places: tuple[Place, ...], unread: dict[str, str]
) -> Service:
    shown = tuple(
        Standing(one.place, runs=False) if one.place.backend in unread else one
        for one in standings(settings(method)[0].method)
        if one.place in places
    )
    return Service(method, role, shown, unread)


def _unread(found: Inspection) -> dict[str, str]:
    """Give the backends that do not read a checkpoint, with the reason."""
    if found.kind == "model":
        return _unread_model(found)
    told = {}
    for backend in ("reference", "tensorrt", "pytorch"):
        reading = (found.readings or {}).get(loader_of(backend))
        if reading is not None and reading.info is None:
            told[backend] = "; ".join(problem.what for problem in reading.problems)
        elif (
            backend == "reference" and reading is not None and reading.info is not None
        ):
            told |= _unloaded(reading.info)
    if found.kind == "mtp":
        told["pytorch"] = "it drafts with next-token heads of the target's checkpoint"
    return told


def _unread_model(found: Inspection) -> dict[str, str]:
    """Say which backends do not take what runs by itself, as ``check`` would."""
    shape, model = found.shape, found.model
    stored = None if model is None else model.format
    told: dict[str, str] = {}
    if stored == "gguf":
        why = "TensorRT-LLM reads transformers checkpoints, no GGUF"
        told |= dict.fromkeys(("tensorrt", "pytorch"), why)
    if stored == "torch":
        told["reference"] = "it reads safetensors and GGUF only, no pickled weights"
    elif shape is not None and (why := reference_refuses(shape)):
        told["reference"] = why
    elif shape is not None and shape.quantization != "none" and stored != "gguf":
        why = f"it converts plain float weights only, no {shape.quantization}"
        told["reference"] = why
    return told


def _unloaded(info: DrafterInfo) -> dict[str, str]:
    """Say why the reference engine does not load a drafter that it can read."""
    if info.quantization != "none":
        why = f"it converts plain float weights only, no {info.quantization}"
    elif info.parts.left_over:
        why = f"it loads a head's own tensors only, not {info.parts.left_over[0]}"
    else:
        return {}
    return {"reference": why}
