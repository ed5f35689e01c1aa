"""Every message that the page quotes is still one of the code's."""

from __future__ import annotations

import docs_troubles
import pytest

from tests.docs.conftest import ROOT
from trtspec.trtllm.pytorch.launch.failures import serving_failures

PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
QUOTED = docs_troubles.quoted(PAGE)


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_exists(message):
    assert docs_troubles.exists(message), "it has changed: mend the page"


def test_messages_of_every_kind_of_command_are_quoted():
    assert len(QUOTED) >= 40
    assert len(set(QUOTED)) == len(QUOTED)
    heads = [line for line in PAGE.splitlines() if line.startswith("| message")]
    assert len(heads) == PAGE.count("| message | cause | do |") == 5


@pytest.mark.parametrize(
    "message",
    [
        "unknown key … (its worth is …)",
        "unknown key …: …",
        "the canary, two greedy requests, failed: …",
    ],
)
def test_a_message_that_nobody_says_is_noticed(message):
    assert not docs_troubles.exists(message)


def test_texts_of_code_in_the_form_of_the_page(tmp_path):
    (tmp_path / "a.py").write_text(
        "x = f'one {a} two' ' three'\ny = f'{a}{b!r:>9} four' + (c if d else '')\n"
        "z = ('five'\n     ' six')\n"
    )
    (tmp_path / "b.json").write_text('[{"meaning": "seven"}]')
    found = docs_troubles.templates(tmp_path)
    assert {"one … two three", "…… four…", "five six", "seven"} <= set(found)


def test_only_tables_of_messages_count():
    text = (
        "| message | cause |\n|---|---|\n| `a …` | b |\n\n"
        "| what | is |\n|---|---|\n| `c` | d |\n"
    )
    assert docs_troubles.quoted(text) == ["a …"]


def test_every_failure_of_a_server_is_there_with_its_source():
    for known in serving_failures():
        assert known.example.strip().replace("|", "\\|") in PAGE
        assert known.source.replace("|", "\\|") in PAGE


def test_the_page_leads_to_the_failures_of_engines():
    assert "(checkpoint-to-engines.md#known-failures)" in PAGE
