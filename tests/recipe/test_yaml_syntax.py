"""YAML that cannot be read: the line, what is wrong in plain words, what to do."""

import pytest

from trtspec.errors import RecipeError
from trtspec.recipe.yaml_lines import parse_yaml

CASES = {
    "tab": ("a:\n\tb: 1\n", 2, "a tab in the indentation", "b: 1"),
    "colon": ("a: 1\nb: c: d\n", 2, "a second colon in the line", "b: c: d"),
    "no colon": ("a: 1\nb\nc: 2\n", 2, "a key without a colon", "in: b"),
    "open quote": ('a: 1\nb: "x\nc: 2\n', 2, "a quotation mark", 'b: "x'),
    "open quote before ---": ('a: "x\n--- \n', 1, "a quotation mark", 'a: "x'),
    "open list": ("a: 1\nb: [1, 2\nc: 3\n", 2, "a list ([) that is not", "b: [1, 2"),
    "open map": ("a: 1\nb: {c: 2\n", 2, "a map ({) that is not closed", "b: {c: 2"),
    "at sign": ("a: 1\nb: @c\n", 2, "a character that YAML reserves", "b: @c"),
    "percent": ("a: 1\nb: %c\n", 2, "a character that YAML reserves", "b: %c"),
    "star": ("a: 1\nb: */c\n", 2, "* and & are reserved", "b: */c"),
    "no anchor": ("a: 1\nb: *c\n", 2, "an alias (*) without its anchor", "b: *c"),
    "anchor twice": ("a: &x 1\nb: &x 2\n", 2, "an anchor (&) is defined twice", "&x 2"),
    "escape": ('a: 1\nb: "C:\\models"\n', 2, "an unknown escape", 'b: "C:\\models"'),
    "dash": ("a: 1\nb: - c\n", 2, "a list entry (-) where none can stand", "b: - c"),
    "indentation": ("a:\n    b: 1\n  c: 2\n", 3, "the indentation does not", "c: 2"),
    "two documents": ("a: 1\n---\nb: 2\n", 2, "a second document begins", "---"),
    "deep": ("a: 1\nb: " + "[" * 99, 2, "nested deeper than 32 levels", "b: [[["),
}


@pytest.mark.parametrize(("text", "line", "what", "excerpt"), CASES.values(), ids=CASES)
def test_syntax_errors_in_plain_words(text, line, what, excerpt):
    with pytest.raises(RecipeError) as caught:
        parse_yaml(text, "dir/f.yaml")
    (problem,) = caught.value.problems
    assert problem.where == f"dir/f.yaml:{line}"
    assert what in problem.what
    assert excerpt in problem.what
    assert problem.action


def test_fault_without_words_of_ours_keeps_the_parsers():
    with pytest.raises(RecipeError, match=r"f:1: not valid YAML: .*%YAML"):
        parse_yaml("%YAML 3.0\n---\na: 1\n", "f")


@pytest.mark.parametrize(
    ("character", "name"),
    [
        ("\0", "a NUL byte"),
        ("\x07", "U+0007"),
        ("\x1b", "U+001B"),
        ("\ufffe", "U+FFFE"),
    ],
)
def test_characters_that_yaml_forbids_are_named_with_their_line(character, name):
    with pytest.raises(RecipeError) as caught:
        parse_yaml(f"a: 1\r\nb: 2\r\n# {character}\r\n", "f")
    (problem,) = caught.value.problems
    assert problem.where == "f:3"
    assert name in problem.what


@pytest.mark.parametrize("text", ["---\na: 1\n", "a: 1\n...\n", "%YAML 1.2\n---\na: 1"])
def test_markers_of_a_single_document_are_fine(text):
    assert parse_yaml(text, "f").value == {"a": 1}
