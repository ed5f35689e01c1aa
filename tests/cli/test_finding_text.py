"""How findings and rules look: labels, wrapping, and text to copy as it is."""

import re

import pytest

from trtspec.check import Finding
from trtspec.check.catalogue import Entry
from trtspec.cli.finding_text import counted, entry_lines, finding_lines, how_ignored

ENTRY = Entry(
    "a-rule", "theme", ("blocking", "warning"), "It is so.", "Because.", "Do."
)


def text_of(lines):
    return re.sub(r"\x1b\[\d+m", "", "\n".join(lines))


def finding(severity="note", what="what", **changes):
    return Finding("rule", severity, "x:1", what, **changes)


@pytest.mark.parametrize(
    ("severities", "text"),
    [
        ([], "no findings"),
        (["note"], "1 note"),
        (["blocking", "blocking", "warning", "note", "note"],
         "2 blocking, 1 warning, 2 notes"),
    ],
)  # fmt: skip
def test_the_verdict_counts_findings_by_severity(severities, text):
    assert counted([finding(severity) for severity in severities]) == text


def test_ignored_findings_are_counted_by_themselves():
    findings = [finding("blocking", ignored=True), finding("warning")]
    assert counted(findings) == "1 warning, 1 ignored"


def test_a_fact_that_is_empty_has_no_label():
    text = text_of(finding_lines(finding()))
    assert text == "note: rule\n  where x:1\n  what  what"


def test_an_indented_line_is_kept_and_others_are_wrapped_by_themselves():
    long = "word " * 30
    lines = text_of(finding_lines(finding(action=f"{long}\n    a:   b\nend")))
    lines = lines.splitlines()
    assert lines[-2:] == ["    a:   b", "        end"]
    assert lines[3].startswith("  do    word word")
    assert all(line.startswith("        word") for line in lines[4:-2])


def test_items_of_a_list_are_wrapped_and_rows_of_a_table_kept():
    item = f"  - {'words ' * 20}end"
    row = f"  - weights{' ' * 80}1.5"
    lines = text_of(finding_lines(finding(action=f"one of\n{item}\n{row}")))
    _, _, _, _, first, *more, last = lines.splitlines()
    assert first.startswith("  - words words")
    assert more
    assert all(len(line) <= 80 and line.startswith("    words") for line in more)
    assert last == row


def test_a_snippet_is_a_block_by_itself_however_long_its_lines():
    flow = "speculation: {" + ", ".join(f"key_{n}: {n}" for n in range(12)) + "}"
    found = finding(action="write", snippet=f"{flow}\nname: x", source="docs/a.md")
    lines = text_of(finding_lines(found)).splitlines()
    assert lines[-4:] == ["  do    write", f"    {flow}", "    name: x",
                          "  see   docs/a.md"]  # fmt: skip


def test_what_is_ignored_says_so():
    found = finding("blocking", ignored=True)
    assert text_of(finding_lines(found, ["rule"])).startswith(
        "blocking: rule (ignored)"
    )


def test_what_cannot_be_ignored_says_so_too():
    lines = text_of(finding_lines(finding("blocking"), ["rule"]))
    assert lines.startswith("blocking: rule (not ignored: it blocks)\n")


@pytest.mark.parametrize(
    ("ignorable", "text"),
    [
        (None, "--ignore a-rule, for warning only"),
        (True, "--ignore a-rule"),
        (False, "its findings cannot be ignored"),
    ],
)
def test_which_findings_may_be_ignored_is_said(ignorable, text):
    entry = Entry("a-rule", "t", ENTRY.severity, "s", "w", "d", ignorable=ignorable)
    assert how_ignored(entry) == text


def test_a_rule_is_laid_out_with_its_page():
    assert text_of(entry_lines(ENTRY)).splitlines() == [
        "a-rule (blocking, warning)",
        "  finds It is so.",
        "  why   Because.",
        "  do    Do.",
        "  skip  --ignore a-rule, for warning only",
        "  page  docs/rules/theme.md",
    ]
