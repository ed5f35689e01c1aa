"""Text is wrapped for the terminal, at most 80 columns wide."""

import pytest

from trtspec.cli.paragraph import WIDEST, paragraph

TEXT = "a few words that are long enough to need more than one line of a terminal, " * 2


@pytest.mark.parametrize(("columns", "widest"), [(40, 40), (200, WIDEST)])
def test_lines_fit_the_terminal_and_begin_below_the_first(monkeypatch, columns, widest):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = paragraph(TEXT, "  do  ")
    assert max(map(len, lines)) <= widest < max(map(len, lines)) + 15
    assert lines[0].startswith("  do  a few")
    assert all(line[:6].isspace() and line[6] != " " for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == f"do {TEXT.strip()}"


def test_beside_a_label_there_is_room_on_a_narrow_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    lines = paragraph("one two three four", " " * 9 + "x")
    assert lines == [" " * 9 + "xone two", " " * 10 + "three four"]


def test_paths_are_not_broken(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    path = "/a-long/path-of/many-parts/that-fits-nowhere"
    assert paragraph(f"see {path}", "  ") == ["  see", f"  {path}"]


def test_without_a_text_the_label_stands_alone():
    assert paragraph("", "  see  ") == ["  see"]
    assert paragraph("", "  ") == paragraph("") == []
