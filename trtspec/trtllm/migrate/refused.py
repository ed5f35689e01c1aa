"""What TensorRT-LLM would refuse in a result, by the facts of its version."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from trtspec.recipe.yaml_lines import KeyPath
from trtspec.trtllm.migrate.change import ABSENT, Change, apply_change, blocked, count
from trtspec.trtllm.migrate.config import SPEC, Config
from trtspec.trtllm.migrate.engine_shape import keeps_deprecated
from trtspec.trtllm.migrate.leftovers import unsourced
from trtspec.trtllm.migrate.walk import TYPE

_PYTHON = ((SPEC, TYPE), (SPEC, "drafter"))
"""What a file for a drafter of the user's own cannot hold."""


def refused(
    config: Config, changes: Iterable[Change], lines: Mapping[KeyPath, int]
) -> Iterator[Change]:
    """Hold a result against all that is known of its version.

    :param changes: what was done; where something is blocked already, keys of
        ``speculative_config`` are not looked at: they are no result.
    :param lines: line of each key.
    """
    from trtspec.trtllm.pytorch.compile.validate import faults

    changes = tuple(changes)
    is_result = not count(changes, "blocked")
    rest = copy.deepcopy(config.values)
    for change in changes:
        if unsourced(change):
            apply_change(rest, replace(change, kind="removed", new=ABSENT))
    for problem in faults({str(k): v for k, v in rest.items()}, config.version):
        path: KeyPath = tuple(problem.where.split(".")) if problem.where else ()
        if config.method == "user" and path in _PYTHON:
            continue  # told, and the rest of the file is of use
        if path[:1] == (SPEC,) and keeps_deprecated(config, path[-1]):
            continue  # told
        if path[:1] == (SPEC,) and not is_result:
            continue
        allowed = f"allowed: {problem.allowed}" if problem.allowed else ""
        text = "; ".join(t for t in (problem.what, allowed, problem.action) if t)
        yield replace(blocked(path, value_at(rest, path), text), line=lines.get(path))


def value_at(values: object, path: KeyPath) -> object:
    """Give the value at a path; ``ABSENT`` if there is none."""
    for key in path:
        values = values.get(key, ABSENT) if isinstance(values, dict) else ABSENT
    return values
