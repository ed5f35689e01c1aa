"""What becomes of keys that no other step looks at and the target does not have."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from trtspec.trtllm.facts.llm_args import keys
from trtspec.trtllm.facts.records import Key as Field
from trtspec.trtllm.migrate.change import Change, blocked, removed, warned
from trtspec.trtllm.migrate.config import SPEC, Config
from trtspec.trtllm.migrate.engine_shape import keeps_deprecated
from trtspec.trtllm.migrate.walk import TYPE, described, elsewhere, parts
from trtspec.trtllm.pytorch.compile.known import is_deprecated

_ALIKE = 0.8
_MEANT = dict.fromkeys(
    ("spec_config", "spec_dec_config", "spec_decoding_config", "speculation_config"),
    SPEC,
)
"""What people call a key whose name is not similar enough."""
_WHY = {
    "max_batch_size": "not a key of speculative_config, though one example has it",
    "num_eagle_layers": "max_draft_len says it on backend pytorch",
    "greedy_sampling": "only the engine backend went by it",
    "posterior_threshold": "only the engine backend went by it",
    "num_nextn_predict_layers_from_model_config": "TensorRT-LLM fills it in by itself",
    "is_auto_heuristic": "TensorRT-LLM fills it in by itself",
    "onboard_blocks": "offloaded blocks are always brought back there",
}


def leftovers(config: Config) -> Iterator[Change]:
    """Leave out what the target refuses or wants gone; name what nobody knows."""
    for path, section, name in parts(config.values, config.version):
        known = keys(name, config.version)
        for key, value in section.items():
            place = (*path, key)
            field = known.get(str(key))
            if (path == (SPEC,) and key == TYPE) or place == (SPEC,):
                continue
            if path == (SPEC,) and keeps_deprecated(config, key):
                continue
            if field is not None and is_deprecated(field, config.version):
                yield removed(place, value, _why_gone(config, field))
            elif field is None and (was := described(str(key), name)):
                yield removed(place, value, _why_absent(config, was))
            elif field is None and str(key) in _WHY:
                yield removed(place, value, _WHY[str(key)])
            elif field is None:
                yield _unknown(config, place, value, list(known))


def _why_gone(config: Config, field: Field) -> str:
    reason = _WHY.get(field.name, "on its way out")
    return f"{reason}: {config.version} still takes it and ignores or warns of it"


def _why_absent(config: Config, field: Field) -> str:
    if reason := _WHY.get(field.name):
        return f"{reason}; {config.version} refuses it"
    return f"{config.version} does not have it: known in TensorRT-LLM {field.versions}"


def _unknown(
    config: Config, place: tuple[str | int, ...], value: object, known: list[str]
) -> Change:
    key = str(place[-1])
    near = get_close_matches(key, known, n=1, cutoff=_ALIKE)
    if meant := _MEANT.get(key, next(iter(near), None)):
        return blocked(place, value, f"no release knows it: did you mean {meant}?")
    others = elsewhere(key)
    if place[:1] == (SPEC,):
        method = str(config.spec.get(TYPE))
        if others:
            return removed(place, value, f"a key of {others[0]}, refused with {method}")
        why = f"no release has it in a speculative_config of type {method}: delete it"
        return blocked(place, value, why)
    if class_name_of_place := _better_place(key):
        return blocked(place, value, f"belongs under {class_name_of_place}: move it")
    return warned(
        place,
        value,
        f"trtspec has no source for it and keeps it: {config.version} refuses to start "
        "with a key that it does not know",
    )


def _better_place(key: str) -> str:
    from trtspec.trtllm.facts.llm_args import SECTIONS

    found = elsewhere(key)
    return next((s for s, name in SECTIONS.items() if name in found), "")


def unsourced(change: Change) -> bool:
    """Whether a change keeps a key that trtspec knows nothing of."""
    return change.kind == "warned" and change.reason.startswith("trtspec has no source")
