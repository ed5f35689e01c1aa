"""Whether two measurements may be compared: what differs in what matters.

What each part of a plan means for that is in ``comparable_rules``. Two runs of one
target that speculate differently are comparable, that is what reports are for; two
machines, prompt sets or ways of measuring are not, unless the user says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import Field, JsonValue

from trtspec.bench.comparable_rules import kind_of
from trtspec.bench.records import Record
from trtspec.bench.result import Plan
from trtspec.errors import Problem, UsageError
from trtspec.files import canonical_json

Path = tuple[str, ...]
Leaves = dict[Path, JsonValue]

OPTION = "--allow-different"
BASELINE = "baseline"
"""Name of the baseline in keys, whatever it is called in its plan."""
_LONGEST = 60


class Difference(Record):
    """One thing that is not the same in two plans."""

    key: str = Field(description="Where it stands, such as conditions.hardware.cpu.")
    a: JsonValue = Field(description="Its value in the first plan; null: not there.")
    b: JsonValue = Field(description="Its value in the other.")
    matters: bool = Field(
        description="Whether numbers must not be compared because of it, unless the "
        "user allows it; else it is only shown."
    )


def differences(a: Plan, b: Plan) -> tuple[Difference, ...]:
    """List what differs between two plans, but for what is irrelevant.

    Arms are compared by role and name: the baselines with each other, candidates of
    one name with each other; which candidates there are is a difference of its own.
    What differs in all arms alike is told once, of the baseline.
    """
    left, right = _leaves(a), _leaves(b)
    both = _arms(left) & _arms(right)
    found = []
    for path in dict.fromkeys([*left, *right]):
        if path[0] == "arms" and path[1] not in both:
            continue
        kind = kind_of(path)
        values = left.get(path), right.get(path)
        same = _in_baseline(path)
        if same and values == (left.get(same), right.get(same)):
            continue
        if kind != "irrelevant" and values[0] != values[1]:
            found.append(
                Difference(
                    key=".".join(path),
                    a=values[0],
                    b=values[1],
                    matters=kind == "must agree" and not _same_prompts(path, a, b),
                )
            )
    return tuple(found)


def _in_baseline(path: Path) -> Path | None:
    """Give where the baseline says the same as another arm, or as the conditions."""
    if path[:2] == ("conditions", "runner"):
        return ("arms", BASELINE, "engine", *path[2:])
    if path[0] == "arms" and path[1] != BASELINE:
        return ("arms", BASELINE, *path[2:])
    return None


def _arms(leaves: Leaves) -> set[str]:
    """Give the arms that a plan has, and the list of its candidates."""
    return {path[1] for path in leaves if path[0] == "arms"}


def _same_prompts(path: Path, a: Plan, b: Plan) -> bool:
    """Files that differ may hold the same prompts: then only the file differs."""
    rendered = a.prompts.rendered_sha256
    same = rendered is not None and rendered == b.prompts.rendered_sha256
    return path == ("prompts", "sha256") and same


def require_comparable(
    plans: Sequence[Plan], allowed: Collection[str] = ()
) -> tuple[Difference, ...]:
    """Refuse plans that differ in what matters; each is compared with the first.

    :param allowed: keys, or beginnings of keys, that may differ.
    :return: what was allowed and does differ, for the report to say so.
    :raises UsageError: listing every other difference at once, or an allowed key that
        no plan has.
    """
    _require_known(plans, allowed)
    granted: list[Difference] = []
    problems: list[Problem] = []
    for other in plans[1:]:
        for difference in differences(plans[0], other):
            if not difference.matters:
                continue
            if _covered(difference.key, allowed):
                granted.append(difference)
            else:
                problems.append(_problem(difference, plans[0], other))
    if problems:
        raise UsageError.from_problems(dict.fromkeys(problems))
    return tuple(granted)


def unneeded_keys(plans: Sequence[Plan], allowed: Collection[str]) -> tuple[str, ...]:
    """Give the allowed keys under which nothing that matters differs."""
    found = [
        difference.key
        for other in plans[1:]
        for difference in differences(plans[0], other)
        if difference.matters
    ]
    return tuple(k for k in allowed if not any(_covered(f, (k,)) for f in found))


def require_same_run(begun: Plan, now: Plan) -> None:
    """Refuse to go on with a run that would not be the same any more.

    Arms, prompts and settings must be as they were in all they say, the conditions in
    what matters.

    :raises UsageError: listing everything that is not as it was.
    """
    problems = [
        Problem(
            f"was {_shown(difference.a)} when the run began, is {_shown(difference.b)}",
            difference.key,
            action="make it as it was, or measure again without --resume",
        )
        for difference in _changes(begun, now)
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _changes(begun: Plan, now: Plan) -> Iterator[Difference]:
    for difference in differences(begun, now):
        if difference.matters or not difference.key.startswith("conditions."):
            yield difference
    names = [[arm.name for arm in plan.arms] for plan in (begun, now)]
    if sorted(names[0]) == sorted(names[1]) and names[0] != names[1]:
        yield Difference(key="arms", a=list(names[0]), b=list(names[1]), matters=True)


def _problem(difference: Difference, first: Plan, other: Plan) -> Problem:
    return Problem(
        f"{_shown(difference.a)} in {_title(first)}, {_shown(difference.b)} in "
        f"{_title(other)}",
        difference.key,
        action=f"compare runs that agree in it, or say that it may differ: {OPTION} "
        f"{difference.key}",
    )


def _title(plan: Plan) -> str:
    return f"{plan.name} ({plan.started})"


def _shown(value: JsonValue) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else canonical_json(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _require_known(plans: Sequence[Plan], allowed: Collection[str]) -> None:
    known = {".".join(path) for plan in plans for path in _leaves(plan)}
    problems = [
        Problem(
            f"there is no key {key}",
            OPTION,
            "a key as the list of differences names it, or its beginning up to a dot",
        )
        for key in allowed
        if not any(_covered(have, (key,)) for have in known)
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _covered(key: str, allowed: Collection[str]) -> bool:
    """Whether a key, or what it is part of, is among those that may differ."""
    return any(key == name or key.startswith(f"{name}.") for name in allowed)


def _leaves(plan: Plan) -> Leaves:
    """Give every single value of a plan by its path; arms by their names."""
    whole = plan.model_dump(mode="json")
    arms = {
        (BASELINE if arm["role"] == "baseline" else arm["name"]): arm
        for arm in whole.pop("arms")
        if arm["role"] != "control"
    }
    names: list[JsonValue] = [a.name for a in plan.candidates]
    return {
        ("arms", "candidates"): names,
        **dict(chain(_walk(("arms",), arms), _walk((), whole))),
    }


def _walk(path: Path, value: JsonValue) -> Iterator[tuple[Path, JsonValue]]:
    """Go down to single values; a list of objects is its length and its members."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _walk((*path, str(key)), inner)
    elif isinstance(value, list) and any(isinstance(v, Mapping) for v in value):
        yield (*path, "count"), len(value)
        for index, inner in enumerate(value):
            yield from _walk((*path, str(index)), inner)
    else:
        yield path, value
