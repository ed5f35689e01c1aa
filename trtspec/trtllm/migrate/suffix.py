"""Where the suffix automaton that can overrule a drafter is switched on."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, removed
from trtspec.trtllm.migrate.config import Config

ENHANCER = "sa_config"
SWITCH = "use_sa_spec"
_THRESHOLD = "sa_spec_threshold"
_DEFAULT = 4


def suffix(config: Config) -> Iterator[Change]:
    """Nest the flat keys that older documentation shows; drop them before main."""
    spec = config.spec
    if config.family != "main":
        for key in (ENHANCER, SWITCH, _THRESHOLD):
            if key in spec:
                why = f"{config.version} has no suffix automaton next to a drafter: "
                why += "drafts come from the drafter alone"
                yield removed(config.at(key), spec[key], why)
    elif SWITCH in spec or _THRESHOLD in spec:
        yield from _nested(config)


def _nested(config: Config) -> Iterator[Change]:
    spec = config.spec
    flat = "a flat key of older documentation, which every release refuses"
    on = spec.get(SWITCH, ENHANCER in spec)
    threshold = spec.get(_THRESHOLD, _DEFAULT)
    if on and ENHANCER not in spec:
        nested = {"threshold": threshold}
        yield Change(
            "converted",
            config.at(SWITCH),
            True,
            nested,
            f"{flat}: {ENHANCER} takes its place",
            config.at(ENHANCER),
        )
    elif SWITCH in spec:
        yield removed(config.at(SWITCH), spec[SWITCH], flat)
    if _THRESHOLD in spec:
        where = f"stands in {ENHANCER} now" if on else f"no effect without {SWITCH}"
        yield removed(config.at(_THRESHOLD), threshold, where)
