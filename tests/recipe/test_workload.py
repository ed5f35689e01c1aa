"""Prompt files: every line a prompt with its id, or one error with file and line."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.recipe import Prompt, load_prompts
from trtspec.recipe.workload import prompts_path

BUNDLED = sorted((Path(__file__).parents[2] / "recipes/workloads").glob("*.jsonl"))


@pytest.fixture
def prompts_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(content):
        data = content.encode() if isinstance(content, str) else content
        Path("p.jsonl").write_bytes(data)
        return "p.jsonl"

    return write


@pytest.fixture
def problems_of(prompts_file):
    def read(content, where=""):
        with pytest.raises(UsageError) as caught:
            load_prompts(prompts_file(content), where)
        assert caught.value.exit_code == 2
        return caught.value.problems

    return read


def test_prompt_has_id_category_and_messages(prompts_file):
    line = '{"id": "c-1", "category": "chat", "prompt": "Hello"}\n'
    assert load_prompts(prompts_file(line)) == (
        Prompt("c-1", "chat", ({"role": "user", "content": "Hello"},)),
    )


def test_spec_bench_lines_are_read(prompts_file):
    line = '{"question_id": 81, "category": "writing", "turns": ["One", "Two"]}\n'
    assert load_prompts(prompts_file(line)) == (
        Prompt("81", "writing", ({"role": "user", "content": "One"},)),
    )


def test_line_number_is_the_id_where_none_is_given(prompts_file):
    prompts = load_prompts(prompts_file('\n{"prompt": "a"}\n\n{"prompt": "b"}'))
    assert [(p.id, p.category) for p in prompts] == [("2", ""), ("4", "")]


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_bundled_prompts_are_read(path):
    prompts = load_prompts(path)
    assert len(prompts) == 16
    assert {p.category for p in prompts} == {path.stem}
    assert len({p.messages[0]["content"] for p in prompts}) == 16


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + '{"prompt": "é"}\n{"prompt": "b"}\n'.encode(),
        '{"prompt": "é"}\r\n{"prompt": "b"}\r\n'.encode(),
        '  {"prompt": "é"}  \n\t\n{"prompt": "b"}'.encode(),
        b'{"prompt": "\\u00e9"}\n{"prompt": "b"}',
    ],
    ids=["byte order mark", "CRLF", "blanks", "escapes"],
)
def test_layout_of_the_text_does_not_matter(prompts_file, data):
    prompts = load_prompts(prompts_file(data))
    assert [p.messages[0]["content"] for p in prompts] == ["é", "b"]


def test_line_separators_inside_a_text_do_not_split_it(prompts_file):
    text = "a\u2028b\x85c\x0bd"
    line = json.dumps({"prompt": text}, ensure_ascii=False)
    prompts = load_prompts(prompts_file(line.replace("\x0b", "\\u000b")))
    assert prompts[0].messages[0]["content"] == text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it is empty"),
        ("\n\n", "only blank lines"),
        ("  \r\n\t\n", "only blank lines"),
        ("\ufeff", "only blank lines"),
    ],
)
def test_file_without_prompts_is_refused(problems_of, content, why):
    (problem,) = problems_of(content)
    assert problem.what == f"the file has no prompts: {why}"
    assert problem.where == "p.jsonl"
    assert '{"prompt": "..."}' in problem.allowed


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"prompt": "a"', "not valid JSON: Expecting ',' delimiter at column 15"),
        ("{'prompt': 'a'}", "not valid JSON: Expecting property name"),
        ('{"prompt": "a"} {"prompt": "b"}', "not valid JSON: Extra data at column 17"),
        ("hello", "not valid JSON: Expecting value at column 1, in: hello"),
        ('{"prompt": "a\x00b"}', "not valid JSON: Invalid control character"),
        ('"text"', 'the line is no JSON object, but: "text"'),
        ("[1]", "the line is no JSON object, but: [1]"),
        ("3", "the line is no JSON object, but: 3"),
        ("null", "the line is no JSON object, but: null"),
        ("[" * 100_000, "not valid JSON: it cannot be read, in: [[["),
        ('{"id": ' + "9" * 5000 + "}", "not valid JSON: it cannot be read"),
        ('{"text": "a"}', 'there is no prompt; the keys are: "text"'),
        ('{"prompt": ""}', "prompt is empty"),
        ('{"prompt": "a", "id": ""}', "id is empty"),
        ('{"prompt": "a", "id": true}', "id is true or false"),
        ('{"prompt": "a", "category": 1.5}', "category is a number"),
        ('{"prompt": "\\ud800"}', "prompt has half a surrogate pair in it"),
    ],
)
def test_bad_line_is_refused_with_its_number(problems_of, line, what):
    (problem,) = problems_of('{"prompt": "a"}\n\n' + line + "\n")
    assert problem.where == "p.jsonl:3"
    assert problem.what.startswith(what)
    assert len(str(problem)) < 500


def test_invalid_utf8_is_refused_with_its_line(problems_of):
    (problem,) = problems_of(b'{"prompt": "a"}\n{"prompt": "caf\xe9"}\n')
    assert problem.where == "p.jsonl:2"
    assert problem.what == 'the byte 0xe9 after "{\\"prompt\\": \\"caf" is not UTF-8'


def test_utf16_is_named(problems_of):
    problems = problems_of('{"prompt": "a"}\n'.encode("utf-16"))
    assert problems[0].what == "the file is UTF-16 text"
    assert problems[0].where == "p.jsonl:1"


def test_repeated_id_names_both_lines(problems_of):
    (problem,) = problems_of(
        '{"id": "a", "prompt": "1"}\n{"prompt": "2"}\n{"id": "a", "prompt": "3"}\n'
    )
    assert problem.where == "p.jsonl:3"
    assert problem.what == 'the id "a" is that of line 1 too'


def test_number_and_text_are_the_same_id(problems_of):
    (problem,) = problems_of('{"id": 2, "prompt": "1"}\n{"id": "2", "prompt": "2"}\n')
    assert problem.what == 'the id "2" is that of line 1 too'


def test_all_bad_lines_come_at_once(problems_of):
    problems = problems_of('{}\n{"prompt": "a"}\nx\n{"prompt": 3}\n')
    assert [p.where for p in problems] == ["p.jsonl:1", "p.jsonl:3", "p.jsonl:4"]


def test_reading_stops_after_ten_bad_lines(problems_of):
    problems = problems_of("x\n" * 100)
    assert len(problems) == 11
    assert problems[-1].where == "p.jsonl:10"
    assert problems[-1].what.startswith("reading stopped here")


def test_missing_file_points_to_what_names_it(tmp_path):
    path = tmp_path / "none.jsonl"
    with pytest.raises(UsageError) as caught:
        load_prompts(path, "r.yaml:9")
    (problem,) = caught.value.problems
    assert problem.where == "r.yaml:9"
    assert problem.what == f"the prompts file {path} does not exist"
    assert problem.action


def test_missing_file_that_nothing_names_points_to_itself(tmp_path):
    with pytest.raises(UsageError) as caught:
        load_prompts(tmp_path / "none.jsonl")
    (problem,) = caught.value.problems
    assert problem.where == str(tmp_path / "none.jsonl")
    assert problem.what == "the prompts file does not exist"


def test_directory_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is a directory, not a file"):
        load_prompts(tmp_path, "r.yaml:9")


def test_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe, not a file") as caught:
        load_prompts(tmp_path / "pipe", "r.yaml:9")
    assert caught.value.problems[0].where == "r.yaml:9"


def test_pipe_is_read_where_it_is_allowed():
    reading, writing = os.pipe()
    os.write(writing, b'{"prompt": "a"}\n')
    os.close(writing)
    try:
        (prompt,) = load_prompts(f"/dev/fd/{reading}", allow_pipe=True)
    finally:
        os.close(reading)
    assert prompt.messages[0]["content"] == "a"


@pytest.mark.parametrize("allow_pipe", [True, False])
def test_device_is_refused_always(allow_pipe):
    with pytest.raises(UsageError, match="is a device or socket, not a file"):
        load_prompts("/dev/zero", allow_pipe=allow_pipe)


def test_prompts_path_starts_from_the_recipes_folder_or_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert prompts_path(tmp_path, "p.jsonl") == tmp_path / "p.jsonl"
    assert prompts_path(tmp_path, "~/p.jsonl") == Path("/home/me/p.jsonl")


def test_home_of_nobody_is_refused(tmp_path):
    with pytest.raises(UsageError, match="home directory of ~nouser-x") as caught:
        prompts_path(tmp_path, "~nouser-x/b", "r.yaml:9")
    assert caught.value.problems[0].where == "r.yaml:9"


def test_prompt_is_frozen(prompts_file):
    (prompt,) = load_prompts(prompts_file('{"prompt": "a"}'))
    with pytest.raises(AttributeError):
        prompt.id = "other"


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=5))
def test_any_texts_are_read_back(prompts_file, texts):
    lines = [json.dumps({"prompt": t}, ensure_ascii=False) for t in texts]
    prompts = load_prompts(prompts_file("\n".join(lines)))
    assert [p.messages[0]["content"] for p in prompts] == texts


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=60))
def test_any_bytes_are_refused_with_a_line(prompts_file, data):
    with pytest.raises(UsageError) as caught:
        load_prompts(prompts_file(data))
    for problem in caught.value.problems:
        line = problem.where.removeprefix("p.jsonl").removeprefix(":")
        assert line == "" or 1 <= int(line) <= data.count(b"\n") + 1
