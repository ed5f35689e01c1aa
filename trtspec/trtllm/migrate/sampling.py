"""How requests with a temperature are decoded under speculation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from packaging.version import Version

from trtspec.methods import Mtp
from trtspec.methods.exactness import Exactness
from trtspec.methods.pytorch_rules import IGNORED, MAIN_ONLY, ONE_MODEL, TWO_MODELS
from trtspec.trtllm.facts.families import family_of, newest_of
from trtspec.trtllm.migrate.change import Change, added, removed, warned
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.migrate.walk import TYPE
from trtspec.trtllm.pytorch.compile.driven import Drafting

ADVANCED = "allow_advanced_sampling"
REJECTION = "use_rejection_sampling"
_WITH_SWITCH = ("eagle3", "mtp")
Sampled = Literal["honoured", "greedy", "not established"]
"""What requests get that ask for a temperature."""
_FIRST = {
    "honoured": "{} sampled as requests asked",
    "greedy": "{} decoded every request greedily here",
    "not established": "what {} did to sampled requests here is not established",
}
_THEN = {
    "honoured": "{} honours temperature, top_p and top_k",
    "greedy": "{} decodes greedily whatever the temperature, top_p and top_k",
    "not established": "what {} does to temperature and top_p is not established",
}


def sampling(config: Config) -> Iterator[Change]:
    """Keep what sampled requests get, as far as the target can."""
    yield from _advanced(config)
    yield from _told(config)
    if config.family != "main" and REJECTION in config.spec:
        why = _WITHOUT_REJECTION[_after(config)].format(config.version)
        yield removed(config.at(REJECTION), config.spec[REJECTION], why)


_WITHOUT_REJECTION = {
    "honoured": "{} compares with a sampled token instead: as exact, and less is "
    "accepted at high temperature",
    "greedy": "{} has no such key, and decodes greedily whatever a request asks for",
    "not established": "{} has no such key; what it does to sampled requests is not "
    "established",
}


def _advanced(config: Config) -> Iterator[Change]:
    path, value = config.at(ADVANCED), config.spec.get(ADVANCED)
    switched = config.method in _WITH_SWITCH and not config.becomes.is_driven
    if config.family == "1.2":
        if switched and config.source == "main" and value is not True:
            why = (
                "main samples by itself; 1.2 decodes every request greedily without it"
            )
            yield added(path, True, why)
        elif value is False:
            yield removed(path, value, "the default")
        elif value is True and not switched:
            yield removed(path, value, "no effect: only one-model engines go by it")
    elif ADVANCED in config.spec:
        yield removed(path, value, _why_gone(config))


def _told(config: Config) -> Iterator[Change]:
    """Say what requests with a temperature got, and get now, where that differs."""
    if config.method in ("", "save_state"):
        return
    before, after = _before(config), _after(config)
    same_release = config.source == config.family
    if before == after and (same_release or before != "not established"):
        return
    first = _FIRST[before].format(config.source)
    then = _THEN[after].format(config.family)
    may = "may " if "not established" in (before, after) else ""
    why = f"{first}; {then}: outputs of sampled requests {may}change"
    yield warned(config.at(TYPE), config.spec[TYPE], why)


def _before(config: Config) -> Sampled:
    on = config.spec.get(ADVANCED) is True
    return _sampled(config.meant, newest_of(config.source), on=on)


def _after(config: Config) -> Sampled:
    on = config.source == "main" or config.spec.get(ADVANCED) is True
    return _sampled(config.becomes, config.version, on=on)


def _sampled(drafting: Drafting, version: Version, *, on: bool) -> Sampled:
    """Read the methods' tables.

    :param on: whether one-model engines of 1.2 are told to sample.
    """
    one_model = drafting.method in _WITH_SWITCH and not drafting.is_driven
    if one_model and not on and family_of(version) == "1.2":
        return "greedy"
    found = (e for e in _rules(drafting) if e.covers("pytorch", version))
    rule = next(found, None)
    if rule is None or rule.sampled not in ("", IGNORED):
        return "not established"
    return "greedy" if rule.sampled else "honoured"


def _rules(drafting: Drafting) -> tuple[Exactness, ...]:
    if drafting.method == "mtp" and not drafting.is_driven:
        tree = "dynamic" if drafting.dynamic_tree else None
        return tuple(Mtp.model_construct(method="mtp", tree=tree).exactness())
    if drafting.is_driven:
        return TWO_MODELS
    return ONE_MODEL if drafting.method in _EVERYWHERE else MAIN_ONLY


_EVERYWHERE = ("eagle3", "draft_target")


def _why_gone(config: Config) -> str:
    if config.family == "main":
        return "automatic there: each request is sampled as it asks"
    if config.becomes.is_driven:
        return f"{config.version} has no such switch"
    return (
        f"{config.version} has no such switch: it decodes greedily under one-model "
        "speculation, whatever temperature a request asks for"
    )
