"""What a configuration of TensorRT-LLM's LLM API says of the output, key by key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.methods import Method
from trtspec.methods.typical import LOSSY as TYPICAL
from trtspec.trtllm.facts.controls import EngineShape
from trtspec.trtllm.facts.families import FAMILIES, family_of, newest_of
from trtspec.trtllm.facts.llm_args import AUTO, class_of, keys
from trtspec.verify.gate.asked import Asked
from trtspec.verify.gate.by_method import effect_of, source_of
from trtspec.verify.gate.decoding_types import engine_method, method_of, shape_of
from trtspec.verify.gate.fates import Flags
from trtspec.verify.gate.result import Inspected, lossless, lossy, untold

SPECULATION = "speculative_config"
_TYPE = "decoding_type"
_GUIDED = "guided_decoding_backend"
_PAGES = "tensorrt_llm/llmapi/llm_args.py"
_DRAFTS = "decides what is drafted, or how, not what is accepted"
_UNKNOWN = "no source says what this key does"
_COLLECTS = "it is for collecting hidden states, not serving"
_ELSEWHERE = "this release does not know the key and would not start with it"
_RELAXED = "accepts any of the likeliest tokens within a margin while the model thinks"
_SAMPLERS = ("enable_trtllm_sampler", "sampler_type")


@dataclass(frozen=True, slots=True)
class Read:
    """A configuration that is read.

    :param version: of TensorRT-LLM; None if it is not known.
    :param backend: the one that runs it: pytorch or tensorrt.
    :param where: the file, for what is said of its keys.
    """

    config: Mapping[str, Any]
    version: Version | None
    backend: str
    asked: Asked
    where: str

    @property
    def spec(self) -> Mapping[str, Any]:
        """The map under ``speculative_config``; empty if there is none."""
        found = self.config.get(SPECULATION)
        return found if isinstance(found, Mapping) else {}

    @property
    def sampled(self) -> bool:
        """Whether requests are."""
        return self.asked.mode() == "sampled"

    @property
    def class_name(self) -> str | None:
        """The class of ``speculative_config``; None if no release has the type."""
        spelled = str(self.spec.get(_TYPE))
        if self.version is not None and family_of(self.version) is not None:
            return class_of(spelled, self.version)
        found = (class_of(spelled, newest_of(family)) for family in FAMILIES)
        return next(filter(None, found), None)

    @property
    def shape(self) -> EngineShape | None:
        """Where the drafter runs; None without speculation, or if it is not known."""
        return shape_of(self.class_name, self.spec, self.version)

    @property
    def flags(self) -> Flags:
        """The keys that request controls depend on."""
        advanced = self.spec.get("allow_advanced_sampling")
        return {
            f"{SPECULATION}.enable_penalty": self.spec.get("enable_penalty") is True,
            f"{SPECULATION}.allow_advanced_sampling": advanced is True,
            _GUIDED: bool(self.config.get(_GUIDED)),
        }

    def at(self, key: str) -> str:
        """The name of a key of ``speculative_config``."""
        return f"{SPECULATION}.{key}"


def by_llm_args(read: Read) -> Iterator[Inspected]:
    """Say of each key of ``speculative_config`` what it does to the output."""
    if not read.spec:
        given = read.config.get(SPECULATION)
        yield lossless(SPECULATION, read.where, given, "nothing is proposed")
        return
    yield from _type(read)
    for key, value in read.spec.items():
        if key != _TYPE:
            yield _key(read, key, value)
    if "allow_advanced_sampling" not in read.spec:
        yield from _advanced_unset(read)
    yield from _sampler(read)


def _type(read: Read) -> Iterator[Inspected]:
    name, value = read.at(_TYPE), read.spec.get(_TYPE)
    method = _method(read)
    if method is None:
        collects = read.class_name == "SaveHiddenStatesDecodingConfig"
        yield untold(name, read.where, value, _COLLECTS if collects else _UNKNOWN)
        return
    effect, why = effect_of(method, read.backend, read.version, sampled=read.sampled)
    source = source_of(method, read.backend, read.version)
    make = {"lossless": lossless, "lossy": lossy, "cannot tell": untold}[effect]
    yield make(name, read.where, value, why, source)


def _method(read: Read) -> Method | None:
    if read.backend == "tensorrt":
        return engine_method(read.class_name, read.spec)
    return method_of(read.class_name, read.spec, read.version)


def _key(read: Read, key: str, value: object) -> Inspected:
    rule = _RULES.get(key)
    if rule is not None:
        return rule(read, key, value)
    if key in _known(read.class_name, read.version):
        return lossless(read.at(key), read.where, value, _DRAFTS, _PAGES)
    anywhere = _known(read.class_name, None)
    what = _ELSEWHERE if key in anywhere else _UNKNOWN
    return untold(read.at(key), read.where, value, what)


def _known(class_name: str | None, version: Version | None) -> frozenset[str]:
    """Keys of a class in a version, other names included; of any if it is None."""
    if class_name is None or class_name == AUTO:
        return frozenset()
    versions = [version] if version else [newest_of(family) for family in FAMILIES]
    found = [key for each in versions for key in keys(class_name, each).values()]
    return frozenset({k.name for k in found} | {k.alias for k in found if k.alias})


def _relaxed(read: Read, key: str, value: object) -> Inspected:
    if value is True:
        return lossy(read.at(key), read.where, value, _RELAXED, _PAGES)
    return lossless(read.at(key), read.where, value, "exact acceptance", _PAGES)


def _relaxed_size(read: Read, key: str, value: object) -> Inspected:
    on = read.spec.get("use_relaxed_acceptance_for_thinking") is True
    what = "how far relaxed acceptance goes" if on else "no effect: acceptance is exact"
    make = lossy if on else lossless
    return make(read.at(key), read.where, value, what, _PAGES)


def _threshold(read: Read, key: str, value: object) -> Inspected:
    if read.backend == "pytorch" or value is None:
        what = "the PyTorch backend does not read it" if value is not None else "unset"
        return lossless(read.at(key), read.where, value, what, _PAGES)
    return lossy(read.at(key), read.where, value, TYPICAL, "examples/eagle/README.md")


def _advanced(read: Read, key: str, value: object) -> Inspected:
    if value is not True and _is_ignored(read):
        return _ignored(read, value)
    what = "requests are sampled as they ask, where this key decides it"
    return lossless(read.at(key), read.where, value, what, "pull request 9885")


def _advanced_unset(read: Read) -> Iterator[Inspected]:
    if _is_ignored(read):
        yield _ignored(read, None)


def _is_ignored(read: Read) -> bool:
    """Whether sampled requests are decoded greedily unless the key says otherwise."""
    family = family_of(read.version) if read.version else None
    return read.sampled and family == "1.2" and read.shape == "one-model"


def _ignored(read: Read, value: object) -> Inspected:
    what = "without it one-model engines of 1.2 take the likeliest token, whatever the "
    what += "temperature, top-k and top-p"
    name = read.at("allow_advanced_sampling")
    return lossy(name, read.where, value, what, "pull requests 9885 and 10019")


def _filters(read: Read, key: str, value: object) -> Inspected:
    """Judge a mode that leaves out top-k or top-p, by whether requests have them."""
    source = "pull request 16561 of NVIDIA/TensorRT-LLM"
    skipped = [n for n in ("topk", "topp") if f"no_{n}" in str(value)]
    uses = {"topk": read.asked.top_k > 0, "topp": read.asked.top_p < 1}
    if read.sampled and any(uses[name] for name in skipped):
        what = "the filter that requests ask for is skipped under speculation"
        return lossy(read.at(key), read.where, value, what, source)
    known = value in ("full", None) or bool(skipped)
    make, what = (lossless, "no filter that requests ask for is skipped")
    if not known:
        make, what = untold, _UNKNOWN
    return make(read.at(key), read.where, value, what, source)


def _static_tree(read: Read, key: str, value: object) -> Inspected:
    if value and read.backend == "pytorch" and read.sampled:
        what = "what the PyTorch backend does with a static tree is not established"
        return untold(read.at(key), read.where, value, what)
    return lossless(read.at(key), read.where, value, _DRAFTS, _PAGES)


def _accept_threshold(read: Read, key: str, value: object) -> Inspected:
    if value is None:
        return lossless(read.at(key), read.where, value, "unset")
    what = "draft tokens above a probability are kept whatever the target would choose"
    source = "cpp/include/tensorrt_llm/executor/executor.h, ExternalDraftTokensConfig"
    return lossy(read.at(key), read.where, value, what, source)


def _sampler(read: Read) -> Iterator[Inspected]:
    for key in (key for key in _SAMPLERS if key in read.config):
        value = read.config[key]
        other = value is True or value == "TRTLLMSampler"
        if other and read.sampled:
            what = "what this sampler does with drafts is not established"
            yield untold(key, read.where, value, what)
        else:
            yield lossless(key, read.where, value, "the sampler that knows drafts")


_RULES: Mapping[str, Callable[[Read, str, object], Inspected]] = {
    "use_relaxed_acceptance_for_thinking": _relaxed,
    "relaxed_topk": _relaxed_size,
    "relaxed_delta": _relaxed_size,
    "posterior_threshold": _threshold,
    "greedy_sampling": lambda read, key, value: lossless(
        read.at(key), read.where, value, "counted in the method", _PAGES
    ),
    "allow_advanced_sampling": _advanced,
    "advanced_sampling_mode": _filters,
    "eagle_choices": _static_tree,
    "acceptance_threshold": _accept_threshold,
}
"""Keys that bear on exactness; all other known ones decide what is drafted."""

__all__ = ["SPECULATION", "Read", "by_llm_args"]
