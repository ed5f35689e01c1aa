"""Under which conditions was measured: everything that the run recorded of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml
from pydantic import BaseModel

from trtspec.bench.arms import ArmInfo
from trtspec.bench.sentences import condition_lines
from trtspec.report import numbers
from trtspec.report.document import Block, Bullets, Code, Details, Facts, Section
from trtspec.report.secrets import without_secrets
from trtspec.report.view import RunView

_SIZES = {"memory bytes", "available bytes"}


def conditions_section(view: RunView) -> Section:
    """Say it in a few lines, and all of it in details."""
    plan = view.plan
    conditions = plan.conditions
    # null: known not to be installed, or not asked
    installed = {"python": conditions.python, **conditions.versions}
    blocks: list[Block] = [
        Bullets(tuple(map(without_secrets, condition_lines(view.result)))),
        _details(
            "Machine", {**_fields(conditions.hardware), "system": conditions.system}
        ),
        _details("Software", installed),
        _details("Environment variables that change speed", conditions.environment),
        _details("Engine", conditions.runner),
        _details("Prompts", _fields(plan.prompts)),
        _details("Settings", _fields(plan.settings)),
        *(_arm(arm, conditions.runner) for arm in plan.arms if not _copy(view, arm)),
        *_recipes(view),
    ]
    return Section("Conditions", tuple(blocks))


def _fields(record: BaseModel) -> dict[str, object]:
    fields = record.model_dump(mode="json")
    return {name.replace("_", " "): value for name, value in fields.items()}


def _details(summary: str, values: Mapping[str, object]) -> Details:
    pairs = tuple(
        (name, without_secrets(_shown(name, value))) for name, value in values.items()
    )
    return Details(summary, (Facts(pairs or (("none", numbers.NOTHING),)),))


def _shown(name: str, value: object) -> str:
    if name in _SIZES and isinstance(value, int):
        return f"{numbers.gibibytes(value)} ({value} bytes)"
    if name == "loads" and isinstance(value, list):
        return "; ".join(_present(load) for load in value)
    if name == "gpus" and isinstance(value, list):
        return "; ".join(map(numbers.value_text, value)) or numbers.NOTHING
    return numbers.value_text(value)


def _present(load: Mapping[str, object]) -> str:
    """Name what a load has, and not what it lacks."""
    return numbers.value_text({k: v for k, v in load.items() if v not in (None, "")})


def _copy(view: RunView, arm: ArmInfo) -> bool:
    """Whether an arm is the baseline once more: all of it stands there."""
    off = view.plan.baseline
    if off is None or arm.role != "control":
        return False
    return arm.model_copy(update={"name": off.name, "role": off.role}) == off


def _arm(arm: ArmInfo, runner: Mapping[str, object]) -> Details:
    """Give an arm's own: what all engines have stands under Engine."""
    values: dict[str, object] = {"role": arm.role}
    if arm.artifact:
        own = arm.artifact.model_dump(mode="json", exclude={"recipe"})
        values |= {f"artifact: {name}": value for name, value in own.items()}
    if arm.endpoint:
        values |= _fields(arm.endpoint)
    recipe = arm.artifact.recipe if arm.artifact else {}
    if arm.speculation and arm.speculation == recipe.get("speculation"):
        values["speculation"] = "as in its recipe below"
    else:
        values |= {f"speculation: {k}": v for k, v in arm.speculation.items()}
    engine = {
        k: v for k, v in arm.engine.items() if runner.get(k, v) != v or k not in runner
    }
    if arm.engine and not engine:
        engine = {"all": "as under Engine"}
    values |= {f"engine: {k}": v for k, v in engine.items()}
    return _details(f"Arm {arm.name}", values)


def _given(values: Mapping[str, object]) -> dict[str, object]:
    """Leave out what has no value: a recipe without it means the same."""
    return {
        name: _given(value) if isinstance(value, Mapping) else value
        for name, value in values.items()
        if value is not None
    }


def _recipes(view: RunView) -> Iterator[Details]:
    """Give the recipe of each artifact once."""
    seen = set()
    for arm in view.plan.arms:
        if arm.artifact and arm.artifact.fingerprint not in seen:
            seen.add(arm.artifact.fingerprint)
            text = yaml.safe_dump(_given(arm.artifact.recipe), sort_keys=False)
            yield Details(
                f"Recipe of {arm.artifact.name}, resolved",
                (Code(without_secrets(text.rstrip())),),
            )
