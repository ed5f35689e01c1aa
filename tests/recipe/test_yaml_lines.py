"""YAML documents: values with their lines, duplicates, aliases, merges, bounds."""

import pytest

from trtspec.errors import RecipeError
from trtspec.recipe.yaml_lines import MAX_VALUES, dotted, nearest_line, parse_yaml

TEXT = """\
# a comment
name: x
limits:

  max_batch_size: 8   # comment
  nested: {a: 1,
           b: two}
list:
  - first
  -
    second
  - [3,
     4]
text: >
  folded
  lines
last: "quoted"
"""


def refusal(text):
    with pytest.raises(RecipeError) as caught:
        parse_yaml(text, "f")
    (problem,) = caught.value.problems
    return problem


def test_values_are_plain():
    assert parse_yaml(TEXT, "f").value == {
        "name": "x",
        "limits": {"max_batch_size": 8, "nested": {"a": 1, "b": "two"}},
        "list": ["first", "second", [3, 4]],
        "text": "folded lines\n",
        "last": "quoted",
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 2),
        (("name",), 2),
        (("limits",), 3),
        (("limits", "max_batch_size"), 5),
        (("limits", "nested"), 6),
        (("limits", "nested", "a"), 6),
        (("limits", "nested", "b"), 7),
        (("list",), 8),
        (("list", 0), 9),
        (("list", 1), 11),
        (("list", 2, 1), 13),
        (("text",), 14),
        (("last",), 17),
        (("limits", "absent"), 3),
        (("absent", "deeper"), 2),
    ],
)
def test_every_key_and_entry_has_its_line(path, line):
    document = parse_yaml(TEXT, "f")
    assert document.line(path) == line
    assert nearest_line(document.lines, path) == line


def test_line_without_a_document_is_the_first():
    document = parse_yaml("# nothing\n", "f")
    assert document.value is None
    assert document.line(("a",)) == 1


def test_scalars_are_kept_as_written():
    written = parse_yaml("a: 1_000\nb: '8'\nc: 08.0\nd: [on]\n", "f").written
    assert written == {
        ("a",): "1_000",
        ("b",): '"8"',
        ("c",): "08.0",
        ("d", 0): "on",
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_any_system_count(end):
    assert parse_yaml(f"a: 1{end}b: 2{end}", "f").line(("b",)) == 2


def test_whole_numbers_can_be_keys():
    assert parse_yaml("{8: 4, 0x10: 2}", "f").value == {8: 4, 16: 2}


def test_keys_beyond_64_bits_are_text():
    text = f"{{{2**63 - 1}: a, {2**63}: b}}"
    assert parse_yaml(text, "f").value == {2**63 - 1: "a", str(2**63): "b"}


@pytest.mark.parametrize("key", ["? [a]\n", "? {a: 1}\n", "~", "true", "8.0", ".nan"])
def test_other_keys_are_refused(key):
    problem = refusal(f"a: 1\n{key}: 3\n")
    assert problem.where == "f:2"
    assert "neither a word nor a whole number" in problem.what


def test_duplicate_keys_are_reported_and_the_first_is_kept():
    document = parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", "f")
    assert document.value == {"a": 1, "b": {"c": 1}}
    assert sorted((p.where, p.what, p.action) for p in document.problems) == [
        (
            "f:4",
            "b.c is given a second time",
            "keep one of the two; the first is in line 3",
        ),
        (
            "f:5",
            "a is given a second time",
            "keep one of the two; the first is in line 1",
        ),
    ]


def test_keys_equal_in_value_are_duplicates():
    assert len(parse_yaml("{8: 1, 0x8: 2}", "f").problems) == 1
    assert not parse_yaml("{8: 1, '8': 2}", "f").problems


def test_aliases_repeat_what_they_name():
    document = parse_yaml("a: &a {x: 1}\nb: *a\nc: [*a, *a]\n", "f")
    assert document.value == {"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}, {"x": 1}]}
    assert not document.problems


def test_merge_keys_bring_entries_that_the_map_lacks():
    text = "a: &a\n  x: 1\n  y: 2\nb:\n  y: 3\n  <<: *a\n"
    document = parse_yaml(text, "f")
    assert document.value["b"] == {"x": 1, "y": 3}
    assert document.line(("b", "x")) == 2
    assert document.line(("b", "y")) == 5
    assert not document.problems


def test_first_of_several_merged_maps_wins():
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b]}\n"
    assert parse_yaml(text, "f").value["c"] == {"x": 1, "y": 1, "z": 2}


@pytest.mark.parametrize("value", ["3", "[3]", "text", "~"])
def test_merge_key_needs_a_map(value):
    assert refusal(f"a: 1\nb: {{<<: {value}}}\n").what == "a merge key (<<) needs a map"


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_alias_inside_itself_is_refused(text):
    assert refusal(text).what == "an alias (*name) stands inside what it stands for"


def bomb(entry):
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for this, new in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{new}: &{new} {entry(this)}\n"
    return text


@pytest.mark.parametrize(
    "text",
    [
        bomb(lambda name: "[" + ", ".join([f"*{name}"] * 10) + "]"),
        bomb(lambda name: f"{{l: *{name}, r: *{name}, m: *{name}, n: *{name}}}"),
        "a: &a {x: 1}\n"
        + "".join(
            f"{new}: &{new} {{<<: [{', '.join([f'*{this}'] * 10)}]}}\n"
            for this, new in zip("abcdefgh", "bcdefghi", strict=True)
        ),
    ],
    ids=["lists", "maps", "merges"],
)
def test_alias_bomb_is_refused(text):
    assert f"more than {MAX_VALUES:,} keys and values" in refusal(text).what


def test_aliases_cannot_nest_deeper_than_text():
    text = "a0: &a0 [x]\n"
    text += "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 60))
    assert "nested deeper than 32 levels" in refusal(text).what


def test_large_flat_documents_are_refused():
    assert "keys and values" in refusal("".join(f"k{i}: 1\n" for i in range(6000))).what


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), ""),
        (("limits", "top_k"), "limits.top_k"),
        (("list", 0, "x"), "list[0].x"),
        (("a\n",), '"a\\n"'),
    ],
)
def test_dotted_names_a_path(path, name):
    assert dotted(path) == name
