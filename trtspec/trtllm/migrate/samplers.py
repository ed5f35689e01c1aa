"""Which sampler a file asks for, in the words of each release."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, removed
from trtspec.trtllm.migrate.config import Config

_TYPE = "sampler_type"
_SWITCHES = {
    "enable_trtllm_sampler": "TRTLLMSampler",  # 1.0
    "use_torch_sampler": "TorchSampler",  # candidates of 1.1
}
_MIXED = "enable_mixed_sampler"


def samplers(config: Config) -> Iterator[Change]:
    """Ask for the same sampler, where the target still has a choice."""
    values = config.values
    for key, sampler in _SWITCHES.items():
        if key in values and not (
            config.family == "1.0" and sampler == "TRTLLMSampler"
        ):
            yield _switch(config, key, sampler)
    if _MIXED in values and config.family != "1.0":
        why = "every request has a sampling strategy of its own since 1.1"
        yield removed((_MIXED,), values[_MIXED], why)
    if _TYPE in values and config.family in ("1.0", "main"):
        yield _type(config)


def _switch(config: Config, key: str, sampler: str) -> Change:
    value = config.values[key]
    if config.family in ("1.1", "1.2") and value is True and _TYPE not in config.values:
        why = f"{_TYPE} chooses the sampler since 1.1"
        return Change("converted", (key,), value, sampler, why, (_TYPE,))
    return removed((key,), value, _why_gone(config))


def _type(config: Config) -> Change:
    value = config.values[_TYPE]
    if config.family == "1.0" and value == "TRTLLMSampler":
        key = "enable_trtllm_sampler"
        return Change("converted", (_TYPE,), value, True, "1.0's switch for it", (key,))
    return removed((_TYPE,), value, _why_gone(config))


def _why_gone(config: Config) -> str:
    if config.family == "main":
        return "there is one sampler left"
    return "the default sampler"
