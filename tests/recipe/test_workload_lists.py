"""Prompt files that are one JSON list: each member a prompt, or an error."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.recipe import load_prompts


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def load(content, **options):
        data = content.encode() if isinstance(content, str) else content
        Path("p.json").write_bytes(data)
        return load_prompts("p.json", **options)

    return load


@pytest.fixture
def problems_of(read):
    def load(content):
        with pytest.raises(UsageError) as caught:
            read(content)
        return caught.value.problems

    return load


MEMBERS = [{"prompt": "a"}, {"turns": ["b", "c"]}, {"id": "x", "prompt": "d"}]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n  "])
def test_members_are_prompts_however_they_are_written(read, indent, start):
    prompts = read(start + json.dumps(MEMBERS, indent=indent) + "\n\n")
    assert [p.messages[0]["content"] for p in prompts] == ["a", "b", "d"]
    assert [p.id for p in prompts] == ["1", "2", "x"]


def test_a_bad_member_is_named_with_its_line(problems_of):
    problems = problems_of('[\n{"prompt": "a"},\n{"prompt": ""},\n3,\n\n{"text": 1}\n]')
    assert [(p.where, p.what) for p in problems] == [
        ("p.json:3", "prompt is empty"),
        ("p.json:4", "member 3 of the list is no JSON object, but: 3"),
        ("p.json:6", 'there is no prompt; the keys are: "text"'),
    ]


@pytest.mark.parametrize(
    ("content", "where", "what"),
    [
        ("[", "p.json:1", "member 1 of the list is not valid JSON: Expecting value"),
        ('[\n{"prompt": "a"}', "p.json:2", "not valid JSON: neither a comma nor ]"),
        ('[{"prompt": "a"}\n{"prompt": "b"}]', "p.json:2", "not valid JSON: neither"),
        (
            '[\n{"prompt": "a"},\n]',
            "p.json:3",
            "member 2 of the list is not valid JSON",
        ),
        ('[{"prompt": "a"}]\n{}', "p.json:2", "there is more behind the list: {}"),
        ("[]\n[]", "p.json:2", "there is more behind the list: []"),
        ("[" * 100_000, "p.json:1", "member 1 of the list is not valid JSON"),
        (
            '[{"id": ' + "9" * 5000 + "}]",
            "p.json:1",
            "member 1 of the list is not valid",
        ),
        (b'[{"prompt": "a"},\n{"prompt": "\xe9"}]', "p.json:2", "the byte 0xe9"),
    ],
)
def test_what_is_no_list_ends_the_reading(problems_of, content, where, what):
    problem = problems_of(content)[-1]
    assert problem.where == where
    assert problem.what.startswith(what)
    assert len(str(problem)) < 600


def test_an_empty_list_has_no_prompts(problems_of):
    (problem,) = problems_of(" [ ]\n")
    assert problem.what == "the file has no prompts: its list is empty"


def test_a_repeated_id_names_both_members(problems_of):
    (problem,) = problems_of('[{"id": "a", "prompt": "1"}, {"id": "a", "prompt": "2"}]')
    assert problem.what == 'the id "a" is that of member 1 too'
    assert problem.allowed == "a different id in each member"


def test_reading_stops_after_ten_bad_members(problems_of):
    problems = problems_of(json.dumps([3] * 100))
    assert len(problems) == 11
    assert problems[-1].what.startswith("reading stopped here")


def test_a_list_on_a_later_line_is_no_list_of_prompts(problems_of):
    (problem,) = problems_of('{"prompt": "a"}\n[{"prompt": "b"}]\n')
    assert problem.where == "p.json:2"
    assert problem.what.startswith("the line is no JSON object, but: [")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5),
    indent=st.none() | st.integers(0, 3),
)
def test_any_texts_are_read_back(read, texts, indent):
    content = json.dumps([{"prompt": t} for t in texts], indent=indent)
    assert [p.messages[0]["content"] for p in read(content)] == texts


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=40),
    start=st.sampled_from([b"[", b"[{", b'[{"prompt": "a"}']),
)
def test_any_bytes_are_read_or_refused_with_a_line(read, data, start):
    whole = start + data
    try:
        assert read(whole)
    except UsageError as error:
        for problem in error.problems:
            line = problem.where.removeprefix("p.json").removeprefix(":")
            assert line == "" or 1 <= int(line) <= whole.count(b"\n") + 1
