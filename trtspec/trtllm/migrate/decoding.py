"""How ``decoding_type`` reads in the target version, and which methods it lacks."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.alternatives import ALTERNATIVES
from trtspec.trtllm.migrate.change import (
    ABSENT,
    Change,
    blocked,
    converted,
    removed,
    warned,
)
from trtspec.trtllm.migrate.config import SPEC, Config
from trtspec.trtllm.migrate.methods import spelling

PATH = (SPEC, "decoding_type")
ENGINE_KEYS = ("eagle_choices", "greedy_sampling", "posterior_threshold")
"""Keys that only the engine backend's EAGLE-1 and EAGLE-2 ever went by."""
_NEAREST = ("eagle3", "draft_target", "ngram")
_LAYERS = "eagle3_layers_to_capture"
_LATER = {
    "suffix": "NGram, which looks up the prompt too",
    "pard": "DraftTarget with a small model of the same vocabulary, or EAGLE-3",
    "dflash": "EAGLE-3 with a head that was trained for this target",
    "dspark": "MTP if the checkpoint has heads, else EAGLE-3",
    "save_state": "a release from 1.2 on to collect hidden states",
}


def decoding(config: Config) -> Iterator[Change]:
    """Spell ``decoding_type`` as the target version does."""
    spec = config.spec
    if not spec:
        return
    spelled = spec.get("decoding_type")
    wanted = spelling(config.method, config.version)
    if config.method in ALTERNATIVES or wanted is None:
        yield blocked(PATH, spelled, _lacking(config, spelled))
        return
    if wanted != spelled:
        yield converted(PATH, spelled, wanted, _why_spelled(config, wanted))
    yield from _meaning(config)


def _lacking(config: Config, spelled: object) -> str:
    if spelled is None:
        return "decoding_type is missing, so nobody can tell the method: add it"
    if config.method in ALTERNATIVES:
        instead = ALTERNATIVES[config.method]
        names = {name: _spelled(name, config) for name in _NEAREST}
        why = f"only TensorRT engines have it; backend pytorch does not: {instead.why}"
        return f"{why}. Take {instead.spelled(names)}"
    if config.method:
        other = _LATER.get(config.method, "another method")
        return f"TensorRT-LLM {config.version} does not have it. Nearest: {other}"
    return "no release has such a decoding_type: check the spelling"


def _spelled(method: str, config: Config) -> str:
    return spelling(method, config.version) or method


def _why_spelled(config: Config, wanted: str) -> str:
    if config.method == "eagle3" and wanted == "Eagle3":
        return "EAGLE-3 is Eagle3 there; Eagle is the old name and only warns"
    if config.method == "eagle3":
        return f"{config.family} knows EAGLE-3 as Eagle only"
    return f"{config.version} spells it {wanted} and refuses any other spelling"


def _meaning(config: Config) -> Iterator[Change]:
    spec = config.spec
    if config.method == "eagle3" and any(key in spec for key in ENGINE_KEYS):
        yield warned(
            PATH,
            spec["decoding_type"],
            "backend pytorch's EAGLE is EAGLE-3: a head trained for EAGLE-1 or "
            "EAGLE-2 has no equivalent there",
        )
    if config.method == "user":
        why = "the drafter is a Python object: no YAML can hold it, pass it to LLM(...)"
        yield warned(PATH, spec["decoding_type"], why)
    if config.method == "auto":
        yield from _auto(config)
    saves = config.method == "save_state" and config.family == "1.2"
    if saves and not spec.get(_LAYERS):
        why = "1.2 refuses SaveState without the layers to capture: name them"
        yield blocked(config.at(_LAYERS), spec.get(_LAYERS, ABSENT), why)


def _auto(config: Config) -> Iterator[Change]:
    for key in config.spec.keys() - {"decoding_type"}:
        yield removed(config.at(key), config.spec[key], "AUTO takes no keys of its own")
    if (config.source == "1.0") != (config.family == "1.0"):
        yield warned(
            PATH,
            "AUTO",
            "1.0 chooses the draft length anew as concurrency changes, from 1.1 on "
            "once at start from max_batch_size",
        )
