"""What is said where nobody can tell which family a file was written for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from trtspec.errors import UsageError
from trtspec.recipe.dump import flow_text
from trtspec.recipe.yaml_lines import Key, KeyPath
from trtspec.trtllm.facts.families import Family
from trtspec.trtllm.migrate.change import Change, blocked, warned
from trtspec.trtllm.migrate.deduce import better_than, contradictions, decisive_key
from trtspec.trtllm.migrate.refused import value_at


def ambiguous(results: Mapping[Family, Mapping[str, Any] | None]) -> UsageError:
    """Make the error for a file that could be of several families, and it matters.

    :param results: what the ``speculative_config`` becomes from each; None if it is not
        expressible.
    """
    kept = [spec for spec in results.values() if spec is not None]
    names = dict.fromkeys(key for spec in kept for key in spec)
    differ = [k for k in names if any(s.get(k) != kept[0].get(k) for s in kept)]
    shown = {
        family: "not expressible" if spec is None else _shown(spec, differ)
        for family, spec in results.items()
    }
    each = "".join(f"\n    from {family}: {text}" for family, text in shown.items())
    families = list(results)
    return UsageError(
        f"the file can be one for TensorRT-LLM {' or '.join(families)}, and becomes"
        f"{each}",
        where="--from",
        allowed=", ".join(families),
        action="say which it was written for: "
        + " or ".join(f"--from {family}" for family in families),
    )


def _shown(spec: Mapping[str, Any], keys: list[str]) -> str:
    return flow_text({key: spec[key] for key in keys if key in spec} or dict(spec))


def misread(
    values: Mapping[Key, Any], source: Family, lines: Mapping[KeyPath, int]
) -> Change | None:
    """Refuse a given family that fits a file less well than another, if it matters.

    It does where a schedule, a limit or a gate is there: each means something else, or
    does not exist, in another family.

    :param source: what --from says.
    :returns: what is blocked, and the family to give; None if nothing is.
    """
    path, better = decisive_key(values), better_than(values, source)
    if path is None or not better:
        return None
    against = [one.why for one in contradictions(values, source) if not one.is_mild]
    why = (
        f"what it means depends on the release, and --from {source} does not fit: "
        f"{'; '.join(against)}. Give --from {' or '.join(better)}"
    )
    return replace(blocked(path, value_at(values, path), why), line=lines.get(path))


def doubts(
    values: Mapping[Key, Any],
    source: Family,
    changes: Iterable[Change],
    lines: Mapping[KeyPath, int],
) -> Iterator[Change]:
    """Say what speaks against the family that was given, unless it is told already.

    :param changes: what was done to the file.
    """
    told = {c.path for c in changes if c.alters or c.kind == "blocked"}
    for path, why, _ in contradictions(values, source):
        if path not in told:
            text = f"--from {source} does not fit: {why}"
            doubt = warned(path, value_at(values, path), text)
            yield replace(doubt, line=lines.get(path))
