"""Writes docs/rules: what each rule of ``trtspec check`` finds, a page per theme.

python scripts/write_rules_pages.py
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from trtspec.check.catalogue import Entry, Theme, themes
from trtspec.check.finding import Severity

_ROOT = Path(__file__).resolve().parent.parent
FOLDER = _ROOT / "docs" / "rules"
_README = "README.md"
_IN_TENSORRT_LLM = ("tensorrt_llm/", "cpp/", "examples/", "docs/source/")
_MADE = "<!-- written by scripts/write_rules_pages.py from trtspec/check/catalogue -->"
_IGNORING = """\
`trtspec check --explain RULE` prints an entry. With `--ignore RULE`, which `check`,
`plan` and `build` take, a finding is still shown, as ignored, and the artifact's
manifest lists the rule. `run`, `serve` and `bench` take that artifact; given a recipe
they build it and ignore nothing. Warnings and notes may be ignored, blocking findings
only where it says so below: where an expert may know better than an estimate or a
collected fact. What is known to make the output another one, and a checkpoint that
cannot be read, never. Of {never} not even a warning or a note may be
ignored."""
_LETTERS: dict[Severity, str] = {"blocking": "B", "warning": "W", "note": "n"}


def pages() -> dict[str, str]:
    """Give each page by the name of its file."""
    written = {f"{theme.name}.md": _page(theme) for theme in themes()}
    return {_README: _overview(), **written}


def write(folder: Path) -> None:
    """Write all pages, and remove those of themes that are no more."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for path in folder.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def _overview() -> str:
    return "\n".join(_overview_lines()) + "\n"


def _overview_lines() -> Iterator[str]:
    count = sum(len(theme.entries) for theme in themes())
    yield from (_MADE, "", "# Rules of `trtspec check`", "")
    yield (
        f"{count} rules in {len(themes())} themes. A finding has the id of its rule, a "
        "severity, the place in the\nrecipe, what it is about, why that matters, what "
        "to do, and the source of the fact behind it\nwhere there is one. All are "
        "found in one pass."
    )
    yield ""
    yield "- **B**, blocking: nothing is built; `trtspec check` exits with 3."
    yield "- **W**, warning: it is built, and something is likely not as wanted."
    yield "- **n**, note: good to know."
    yield ""
    yield _ignoring_at_all()
    for theme in themes():
        yield from ("", f"## [{theme.title}]({theme.name}.md)", "")
        yield from ("| rule | | finds |", "|---|---|---|")
        for entry in theme.entries:
            letters = " ".join(_LETTERS[severity] for severity in entry.severity)
            link = f"[`{entry.id}`]({theme.name}.md#{entry.id})"
            yield f"| {link} | {letters} | {_cell(entry.says)} |"


def _ignoring_at_all() -> str:
    """Say what may be ignored, and of which rules nothing, however mild."""
    mild = [
        f"`{entry.id}`"
        for theme in themes()
        for entry in theme.entries
        if not entry.ignorable_severities and entry.severity != ("blocking",)
    ]
    text = _IGNORING.format(never=f"{', '.join(mild[:-1])} and {mild[-1]}")
    return textwrap.fill(text, 88, break_on_hyphens=False)


def _page(theme: Theme) -> str:
    head = (_MADE, "", f"# {theme.title}", "", theme.about.strip())
    body = (line for entry in theme.entries for line in entry_lines(entry))
    return "\n".join([*head, *body, "", "[All rules](README.md)", ""])


def entry_lines(entry: Entry) -> Iterator[str]:
    """Describe one rule, from its heading on."""
    yield from ("", f"## {entry.id}", "", f"*{', '.join(entry.severity)}*", "")
    yield from (entry.says, "")
    yield from (f"- **Why**: {entry.why}", f"- **Do**: {entry.do}")
    yield f"- **Ignoring**: {_ignoring(entry)}"
    if entry.source:
        yield f"- **Source**: {_source(entry.source)}"


def _ignoring(entry: Entry) -> str:
    may = entry.ignorable_severities
    if not may:
        return "cannot be ignored."
    if may == entry.severity:
        return f"`--ignore {entry.id}`."
    return f"`--ignore {entry.id}`, for {' and '.join(may)} only."


def _source(source: str) -> str:
    """Link what can be; a path in TensorRT-LLM is of the versions that it is about."""
    if source.startswith("https://"):
        return f"<{source}>"
    if (_ROOT / source).exists():
        return f"[{source}](../../{source})"
    if source.startswith(_IN_TENSORRT_LLM):
        return f"TensorRT-LLM, `{source}`"
    return f"`{source}`"


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


if __name__ == "__main__":
    write(FOLDER)
