"""Code, catalogue and pages are in step: every rule has an entry, and the reverse."""

import importlib
import re
from pathlib import Path

import pytest

from tests.check.rule_ids import rule_ids, untold
from trtspec.check.catalogue import Entry, entries, entry, themes
from trtspec.check.finding import SEVERITIES
from trtspec.errors import UsageError

ROOT = Path(__file__).parents[2]
NEVER = ("lossless", "checkpoint")


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return importlib.import_module("write_rules_pages")


def test_every_rule_in_the_code_has_an_entry():
    assert sorted(set(rule_ids()) - set(entries())) == []


def test_the_rule_of_every_finding_can_be_read_from_the_code():
    assert untold() == []


def test_every_entry_is_of_a_rule_in_the_code():
    assert sorted(set(entries()) - set(rule_ids())) == []


def test_entries_name_every_severity_that_the_code_gives():
    told = {rule: set(found.severity) for rule, found in entries().items()}
    missing = {
        rule: severities - told[rule]
        for rule, severities in rule_ids().items()
        if rule in told and severities - told[rule]
    }
    assert missing == {}


def test_ids_are_found_through_constants_helpers_and_choices():
    found = rule_ids()
    assert found["mtp-heads"] >= {"blocking", "note"}  # a constant of a module
    assert found["method"] == {"blocking"}  # imported by another
    assert "blocking" in found["guided-decoding"]  # by a helper
    assert found["lossless"] == {"blocking", "warning"}  # one or the other


def test_no_rule_stands_in_two_themes():
    ids = [one.id for theme in themes() for one in theme.entries]
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("rule", list(entries()))
def test_an_entry_says_what_why_and_what_to_do(rule):
    found = entry(rule)
    assert found.severity
    assert set(found.severity) <= set(SEVERITIES)
    for text in (found.says, found.why, found.do):
        assert text.endswith("."), text


@pytest.mark.parametrize("rule", NEVER)
def test_lossy_output_and_unreadable_checkpoints_are_never_ignored(rule):
    assert entry(rule).ignorable_severities == ()


@pytest.mark.parametrize(
    ("ignorable", "may"),
    [
        (None, ("warning", "note")),
        (True, ("blocking", "warning", "note")),
        (False, ()),
    ],
)
def test_a_blocking_finding_may_be_ignored_only_if_the_entry_says_so(ignorable, may):
    one = Entry("x", "t", SEVERITIES, "s", "w", "d", ignorable=ignorable)
    assert one.ignorable_severities == may


def test_an_unknown_rule_is_refused_with_near_names():
    with pytest.raises(UsageError, match="'contextlength'; near: context-length"):
        entry("contextlength")


def test_an_unknown_rule_without_near_names_leads_to_the_list():
    with pytest.raises(UsageError) as caught:
        entry("!!")
    assert caught.value.problems[0].what == "there is no rule '!!'"
    assert caught.value.problems[0].action == "trtspec check --explain all"


def test_the_pages_are_those_that_the_script_writes(pages):
    written = {path.name: path.read_text() for path in pages.FOLDER.glob("*.md")}
    assert written == pages.pages(), "python scripts/write_rules_pages.py"


def test_what_the_pages_link_to_is_there(pages):
    texts = {path: path.read_text() for path in pages.FOLDER.glob("*.md")}
    links = [
        (path, *link.partition("#")[::2])
        for path, text in texts.items()
        for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text)
    ]
    assert len(links) > len(entries())
    for path, to, heading in links:
        assert (path.parent / to).exists(), to
        assert not heading or f"\n## {heading}\n" in texts[path.parent / to]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("https://example.org/a", "- **Source**: <https://example.org/a>"),
        ("tensorrt_llm/mapping.py", "- **Source**: TensorRT-LLM, `tensorrt_llm/mappin"),
        ("docs/methods.md", "- **Source**: [docs/methods.md](../../docs/methods.md)"),
        ("by its authors", "- **Source**: `by its authors`"),
    ],
)
def test_a_source_is_linked_where_it_can_be(pages, source, shown):
    one = Entry("x", "t", ("note",), "s", "w", "d", source=source)
    assert any(line.startswith(shown) for line in pages.entry_lines(one))


def test_a_stale_page_is_noticed_and_one_too_many_is_removed(pages, tmp_path):
    (tmp_path / "method.md").write_text("old")
    (tmp_path / "gone.md").write_text("old")
    pages.write(tmp_path)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written == pages.pages()
