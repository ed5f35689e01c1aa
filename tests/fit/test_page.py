"""What docs/fit-a-drafter.md and the cards show is what the script takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from trtspec.fit.command.parser import parser

ROOT = Path(__file__).parents[2]
CARDS = sorted(ROOT.glob("recipes/*/drafters/*/README.md"))
QUOTED = re.compile(r"^    python scripts/fit_drafter\.py ((?:[^\n\\]|\\\n)*)", re.M)


@pytest.mark.parametrize(
    "page", [ROOT / "docs/fit-a-drafter.md", *CARDS], ids=lambda path: path.parent.name
)
def test_quoted_commands_are_complete(page):
    quoted = QUOTED.findall(page.read_text())
    assert quoted
    for command in quoted:
        parser().parse_args(shlex.split(command.replace("\\\n", " ")))


def test_every_subcommand_and_option_of_the_page_exists():
    text = (ROOT / "docs/fit-a-drafter.md").read_text()
    actions = parser()._subparsers._group_actions[0].choices
    known = {option for p in actions.values() for option in p._option_string_actions}
    assert set(re.findall(r"`(--[a-z-]+)", text)) <= known
    kinds = {"eagle3", "medusa", "draft-model", "mtp"}
    assert set(actions) == {"answers", "texts", *kinds}
    for name in actions:
        assert f"`{name}`" in text or f"fit_drafter.py {name}" in text
