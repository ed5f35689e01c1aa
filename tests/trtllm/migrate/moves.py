"""Short ways to move a few keys and to look at what was done."""

from __future__ import annotations

from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.migrate.vendor import Migration, migrate_vendor
from trtspec.trtllm.versions import parse


def move(spec, source, target, **top) -> Migration:
    """Move a file of a ``speculative_config`` and further keys."""
    values = {**top, **({"speculative_config": spec} if spec else {})}
    version = newest_of(target) if target in FAMILIES else parse(target)
    return migrate_vendor(values, version, source)


def spec_of(migration: Migration) -> dict[str, object]:
    assert not migration.is_blocked, migration.changes
    return migration.values["speculative_config"]


def about(migration: Migration, key: str, kind: str | None = None) -> list:
    """Give the changes of a key, of one kind if it is given."""
    return [
        change
        for change in migration.changes
        if key in change.path and kind in (None, change.kind)
    ]


def eagle3(family: str, **more) -> dict[str, object]:
    """An EAGLE-3 configuration in the words of a family."""
    model = "speculative_model_dir" if family in ("1.0", "1.1") else "speculative_model"
    spelled = "Eagle3" if family == "main" else "Eagle"
    spec = {"decoding_type": spelled, "max_draft_len": 4, model: "org/head"}
    return {**spec, **more}
