"""Writes docs/combinations.md: what goes together with speculation, by version.

python scripts/write_combinations.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from packaging.version import Version

from trtspec.trtllm.combinations.table import (
    NOT_ESTABLISHED,
    cases,
    how,
    not_beside,
    shown_features,
    word,
)
from trtspec.trtllm.facts.combinations import (
    Case,
    Combination,
    Engine,
    all_combinations,
    features,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "combinations.md"
SERVED = ("1.0.0", "1.1.0", "1.2.1", "1.4.0rc4")
"""The newest version of each release family of backend pytorch."""
BUILT = ("0.17.0", "0.20.0", "0.21.0", "1.2.1")
_PLAIN = ("works", NOT_ESTABLISHED)
_ABOUT = """\
<!-- written by scripts/write_combinations.py from trtspec/trtllm/facts -->

# What goes together with speculation

What a version of TensorRT-LLM does with a feature next to a speculation method, as far
as public sources say. Nothing of it was tried on a GPU. `trtspec check` reads the same
table:

- **works**: upstream says yes.
- **refused**: it ends with an error, or upstream says no. Blocking; `--ignore
  combination-refused` goes on.
- **broken**: it was reported to fail. Blocking, with the fix where one is known; where
  what was reported is wrong output, it cannot be ignored.
- **ignored**: it is switched off. A warning where the recipe asks for it.
- **untested**: upstream says so, or its sources disagree. A warning.
- **?**: not established: no source that was read settles it. A warning where the recipe
  asks for it, a note where it is on by default. So is every cell of a version that is
  not known.

Release candidates are versions of their own: a range such as `<=1.3.0rc9` is meant as
it is written. Fewer cells are established for the candidates of 1.2 and 1.3 than here.
"""


def page() -> str:
    """Give the text of the page."""
    return "\n".join(_lines()).rstrip() + "\n"


def _lines() -> Iterator[str]:
    yield _ABOUT
    for version in SERVED:
        yield from _table("pytorch", version)
    for version in BUILT:
        yield from _table("tensorrt", version)
    yield from ("## What is known", "")
    for feature in features().values():
        yield from (f"### {feature.title[0].upper()}{feature.title[1:]}", "")
        known = [e for e in all_combinations() if e.feature == feature.name]
        yield from (_known(entry) for entry in known)
        yield ""


def _table(backend: Engine, version: str) -> Iterator[str]:
    listed = list(cases(backend, Version(version)))
    yield from (f"## Backend `{backend}`, TensorRT-LLM {version}", "")
    names = (f"`{case.method}`{how(case)}" for case in listed)
    yield f"| | {' | '.join(names)} |"
    yield f"|{'---|' * (len(listed) + 1)}"
    for feature in shown_features(backend):
        cells = (_cell(case, feature.name) for case in listed)
        yield f"| {feature.title} | {' | '.join(cells)} |"
    yield ""


def _cell(case: Case, feature: str) -> str:
    others, state = not_beside(case, feature), word(case, feature)
    beside = f"; not with {', '.join(others)}" if others else ""
    return f"{state if state in _PLAIN else f'**{state}**'}{beside}"


def _known(entry: Combination) -> str:
    who = [f"`{method}`" for method in entry.methods] or ["every method"]
    where = [f"drafter {shape}" for shape in entry.shapes if shape]
    conditions = [*where, *_conditions(entry)]
    about = ", ".join(who) + (f" ({', '.join(conditions)})" if conditions else "")
    says = f": {entry.says}" if entry.says else ""
    wrong = ", wrong output" if entry.wrong_text else ""
    fixed = f" Fixed in: {entry.fixed_in}." if entry.fixed_in else ""
    return (
        f"- `{entry.backend}` `{entry.versions}`, {about}: **{entry.state}**{wrong}"
        f"{says}.{fixed} Source: {entry.source}"
    )


def _conditions(entry: Combination) -> Iterator[str]:
    if entry.tree:
        yield "dynamic tree"
    if entry.values:
        yield ", ".join(entry.values)
    if entry.feature == "compute_capability":
        yield f"compute capability {_capabilities(entry)}"
    elif entry.least is not None:
        yield f"draft length {entry.least} and more"
    if entry.also:
        other = features().get(entry.also)
        yield f"with {other.title if other else 'a draft length that reaches 0'}"


def _capabilities(entry: Combination) -> str:
    least, most = (
        None if number is None else f"{number // 10}.{number % 10}"
        for number in (entry.least, entry.most)
    )
    return f"up to {most}" if least is None else f"{least} to {most}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
