"""What is wrong with a checkpoint, where no reader of its own says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import Problem
from trtspec.models.drafter_signs import KIND_NAMES
from trtspec.models.info import ModelInfo
from trtspec.models.parts import Parts
from trtspec.models.stored_record import StoredFiles

_ADAPTER = "adapter_config.json"


def incomplete(directory: Path, parts: Parts) -> Iterator[Problem]:
    """Tell of parts that a head of its kind has, and this one has not, or otherwise."""
    again = "get the checkpoint as it was published, or convert it anew"
    if parts.missing:
        more = f" and {len(parts.missing) - 1} more" * (len(parts.missing) > 1)
        yield Problem(
            f"a head of this kind has {parts.missing[0]}{more}, and the weights do not",
            where=str(directory),
            action=again,
        )
    for name, stored, wanted in parts.misshapen:
        sizes = ", ".join("?" if size is None else str(size) for size in wanted)
        yield Problem(
            f"the tensor {name} is {list(stored)}",
            where=str(directory),
            allowed=f"[{sizes}], as the other tensors have it",
            action=again,
        )


def without_rows(directory: Path, model: ModelInfo) -> Iterator[Problem]:
    """Tell of a tokenizer that gives ids which the embedding has no row for.

    There may be fewer entries than rows all the same, where ids are left out.
    """
    if model.lacks_rows:
        yield Problem(
            f"the tokenizer gives ids up to {model.highest_token}, and the embedding "
            f"has {model.vocabulary_rows} rows: the model fails on an id without one",
            where=str(directory),
            allowed=f"ids from 0 to {model.vocabulary_rows - 1}",
            action="give it the tokenizer files that it was published with",
        )


def repeats(problem: Problem, others: list[Problem]) -> bool:
    """Whether a problem says again what another said, more or less exactly."""
    opening = " ".join(problem.what.split()[:3])
    return any(other.what.startswith(opening) for other in others)


def unknown(directory: Path, config: Mapping[str, Any], stored: StoredFiles) -> Problem:
    """Say that a checkpoint is of no known kind, and what it holds."""
    if (directory / _ADAPTER).is_file():
        return Problem(
            f"is an adapter (it holds {_ADAPTER}), no model of its own",
            where=str(directory),
            action="merge it into its base model, and give that",
        )
    named = config.get("architectures") or config.get("model_type") or "no model class"
    held = f"{len(stored.tensors)} tensors" if stored.tensors else "no known tensors"
    return Problem(
        f"is no checkpoint of a known kind: config.json names {named}, and the weights "
        f"hold {held}",
        where=str(directory),
        allowed=", ".join(KIND_NAMES.values()),
        action="give the directory as it was published",
    )
