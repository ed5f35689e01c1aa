"""Whether what a tool wrote is what was planned: read back from its config.json."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from packaging.version import InvalidVersion, Version

from trtspec.errors import BuildError, RunError
from trtspec.trtllm.engine.engine_config import CONFIG, read_json

Rule = Literal["equal", "at least", "same version", "reported"]
_MISSING = "not written"


@dataclass(frozen=True, slots=True)
class Expected:
    """What one key of a config.json should say.

    :param key: with dots, such as ``build_config.plugin_config.gemm_plugin``.
    :param values: those that are as planned; the first is what was asked for.
    :param rule: ``reported`` only tells; the others fail otherwise. ``same version``
        leaves the local part of a version out: 1.2.1+cu13 is 1.2.1.
    """

    key: str
    values: tuple[Any, ...]
    rule: Rule = "equal"

    @property
    def planned(self) -> Any:
        """What was asked for."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class Difference:
    """A key that does not say what was planned.

    :param wrong: whether the engine would not do what the recipe asks for.
    """

    key: str
    planned: Any
    found: Any
    wrong: bool

    def __str__(self) -> str:
        return f"{self.key} is {self.found}, planned was {self.planned}"


def differences(
    config: Mapping[str, Any], expected: Iterable[Expected]
) -> Iterator[Difference]:
    """Compare a config.json with what was planned."""
    for one in expected:
        found = _look_up(config, one.key)
        if any(_same(found, value) for value in one.values):
            continue
        if one.rule == "same version" and _is_version(found, one.planned):
            continue
        enough = one.rule == "at least" and _is_number(found) and found >= one.planned
        wrong = one.rule != "reported" and not enough
        yield Difference(one.key, one.planned, found, wrong)


def require_as_planned(
    directory: Path,
    expected: Iterable[Expected],
    tell: Callable[[str], None],
    log_file: Path,
) -> None:
    """Read back what a tool wrote; tell what it changed without harm.

    :param tell: takes one line per harmless change.
    :param log_file: what the tool said, to name in errors.
    :raises BuildError: if something is not as the recipe needs it.
    """
    found = list(differences(_written(directory, log_file), expected))
    for difference in found:
        if not difference.wrong:
            tell(f"changed by TensorRT-LLM: {difference}")
    if wrong := [d for d in found if d.wrong]:
        raise BuildError(
            "what was built is not what was planned: " + "; ".join(map(str, wrong)),
            action=f"see the log {log_file} for a warning that says why; change the "
            "recipe or the TensorRT-LLM version",
        )


def require_ranks(directory: Path, suffix: str, log_file: Path) -> None:
    """Refuse a checkpoint or an engine that lacks the part of a GPU.

    :param suffix: ending of the parts' names, such as ``.engine``.
    :raises BuildError: naming the parts that were not written.
    """
    config = _written(directory, log_file)
    mapping = config.get("pretrained_config", config).get("mapping", {})
    parts = [f"rank{rank}{suffix}" for rank in range(mapping.get("world_size", 1))]
    if missing := [name for name in parts if not (directory / name).is_file()]:
        raise BuildError(
            f"the program ended well, but did not write {', '.join(missing)}",
            action=f"see the log {log_file}",
        )


def _written(directory: Path, log_file: Path) -> Mapping[str, Any]:
    try:
        return read_json(directory / CONFIG)
    except RunError as error:
        raise BuildError(
            f"the program ended well, but its {CONFIG} {error.problems[0].what}",
            action=f"see the log {log_file}",
        ) from error


def _look_up(config: Mapping[str, Any], key: str) -> Any:
    value: Any = config
    for step in key.split("."):
        if not isinstance(value, Mapping) or step not in value:
            return _MISSING
        value = value[step]
    return value


def _same(found: Any, planned: Any) -> bool:
    """Compare as config.json writes it: a missing key or NO_QUANT is null too."""
    if planned is None:
        return found in (None, _MISSING, "NO_QUANT")
    if isinstance(planned, bool):
        return isinstance(found, int) and found == planned  # 0 and 1 are written too
    if isinstance(found, bool):
        return False
    if isinstance(planned, str) and isinstance(found, str):
        return found.lower() == planned.lower()
    return bool(found == planned)


def _is_version(found: Any, planned: str) -> bool:
    try:
        return Version(str(found)).public == Version(planned).public
    except InvalidVersion:
        return False


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
