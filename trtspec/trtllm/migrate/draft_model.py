"""Under which key the draft model stands, and whether it is used at all."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.migrate.change import Change, blocked, removed, renamed
from trtspec.trtllm.migrate.config import EARLY, Config

_NAMES = (
    "speculative_model",
    "speculative_model_dir",
    "pytorch_weights_path",  # before 1.0
    "pytorch_eagle_weights_path",  # before 1.0
)


def draft_model(config: Config) -> Iterator[Change]:
    """Move the draft model to the key that the target version has."""
    given = {name: config.spec[name] for name in _NAMES if name in config.spec}
    for name in [name for name, value in given.items() if value is None]:
        yield removed(config.at(name), given.pop(name), "null says nothing")
    if not given:
        return
    if config.method == "mtp":
        yield from _of_mtp(config, given)
        return
    if len(set(map(str, given.values()))) > 1:
        for name, value in given.items():
            yield blocked(
                config.at(name), value, "two different draft models: keep one"
            )
        return
    wanted = _NAMES[1] if config.family in ("1.0", "1.1") else _NAMES[0]
    kept = wanted if wanted in given else next(iter(given))
    for name in given.keys() - {kept}:
        yield removed(config.at(name), given[name], f"the same stands at {kept}")
    if kept != wanted:
        yield renamed(config.at(kept), given[kept], wanted, _why(config, kept))


def _why(config: Config, name: str) -> str:
    if name == _NAMES[0]:
        guide = "; the guide of 1.0 writes it nevertheless"
        return (
            f"{config.family} refuses {name}{guide if config.family == '1.0' else ''}"
        )
    if name == _NAMES[1]:
        return "the name since 1.2; the old one is still an alias"
    return "a name from before 1.0, which every release refuses"


def _of_mtp(config: Config, given: dict[str, object]) -> Iterator[Change]:
    """MTP's heads are in the target; only main can take others."""
    for name, value in given.items():
        path = config.at(name)
        if config.source in EARLY:
            why = "MTP ignored it; main would load it in place of the target's heads"
            yield removed(path, value, why)
        elif config.family in EARLY:
            why = f"{config.family} has MTP with the target's own heads only: delete it"
            yield blocked(path, value, why)
        elif name != _NAMES[0]:
            yield renamed(path, value, _NAMES[0], _why(config, name))
