"""The sample files, and what each is to become."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.recipe.yaml_lines import parse_yaml
from trtspec.trtllm.facts.families import FAMILIES
from trtspec.trtllm.migrate.document import VendorFile, read_vendor

FOLDER = Path(__file__).parent
SAMPLES = sorted((FOLDER / "samples").glob("*/*.yaml"))


class Case(NamedTuple):
    """One sample and one target family."""

    sample: Path
    target: str
    source: str | None
    expected: dict[str, Any]


def sample(path: Path) -> VendorFile:
    return read_vendor(path.read_text(encoding="utf-8"), path.name)


def cases() -> Iterator[Case]:
    for family in FAMILIES:
        text = (FOLDER / "expected" / f"{family}.yaml").read_text(encoding="utf-8")
        document = parse_yaml(text, family).value
        assert isinstance(document, dict)
        for name, entries in document.items():
            path = FOLDER / "samples" / family / f"{name}.yaml"
            for entry in entries:
                yield Case(path, entry["to"], entry.get("from"), entry)


CASES = list(cases())
IDS = [f"{c.sample.parent.name}-{c.sample.stem}-to-{c.target}" for c in CASES]
