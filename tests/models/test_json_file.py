"""A JSON file that cannot be used is refused with its place and a way out."""

import pytest

from trtspec.errors import UsageError
from trtspec.models.json_file import read_json_object


def refusal(path):
    with pytest.raises(UsageError) as caught:
        read_json_object(path)
    return caught.value.problems[0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config.json"


def test_an_object_is_read(path):
    path.write_text('{"a": [1, "ä"]}', encoding="utf-8")
    assert read_json_object(path) == {"a": [1, "ä"]}


def test_a_missing_file_is_named_with_its_directory(path):
    problem = refusal(path)
    assert problem.what == "config.json is missing"
    assert problem.where == str(path.parent)
    assert problem.action


def test_broken_json_is_told_with_line_and_column(path):
    path.write_text('{\n  "a": 1,\n  "b" 2\n}')
    problem = refusal(path)
    assert problem.where == f"{path}:3"
    assert "column 7" in problem.what


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "{'a': 1}"])
def test_what_is_not_json_is_refused(path, text):
    path.write_text(text)
    assert "not valid JSON" in refusal(path).what


def test_bytes_that_are_not_utf8_are_told_with_their_place(path):
    path.write_bytes(b'{"a": "\xff"}')
    assert refusal(path).what == "byte 7 is not UTF-8"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[]", "a list"),
        ("3", "a number"),
        ("1.5", "a number"),
        ('"a"', "a string"),
        ("true", "true or false"),
        ("null", "null"),
    ],
)
def test_another_value_than_an_object_is_refused(path, text, kind):
    path.write_text(text)
    problem = refusal(path)
    assert problem.what == f"holds {kind}"
    assert problem.allowed == "a JSON object"


def test_nesting_without_end_is_refused(path):
    path.write_text("[" * 200_000)
    assert "JSON" in refusal(path).what


def test_a_number_of_absurd_length_is_refused(path):
    path.write_text('{"a": ' + "9" * 10_000 + "}")
    assert "not readable as JSON" in refusal(path).what
