"""A prompts file that cannot be used is told with file and line."""

import pytest

from tests.check.samples import subject
from trtspec.check.rules.workload import chat_template, prompts


def findings(base, name="prompts.jsonl"):
    return list(prompts(subject(base=base, workload={"prompts": name})))


def test_a_readable_file_gives_no_finding(tmp_path):
    (tmp_path / "prompts.jsonl").write_text('{"prompt": "Hello"}\n')
    assert findings(tmp_path) == []
    assert findings(tmp_path / "elsewhere", str(tmp_path / "prompts.jsonl")) == []


def test_an_absent_file_is_blocking_at_the_recipes_line(tmp_path):
    (finding,) = findings(tmp_path)
    assert finding.severity == "blocking"
    assert finding.where == "workload.prompts"
    assert "prompts.jsonl" in finding.what


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\xff\xfe", b"not json", b"[1]", b"{}"]
)
def test_an_unusable_file_is_blocking(tmp_path, content):
    (tmp_path / "prompts.jsonl").write_bytes(content)
    (finding,) = findings(tmp_path)
    assert finding.severity == "blocking"
    assert "prompts.jsonl" in finding.where


def test_the_home_of_nobody_is_blocking(tmp_path):
    (finding,) = findings(tmp_path, "~nouser-x/b")
    assert (finding.severity, finding.where) == ("blocking", "workload.prompts")
    assert "home directory of ~nouser-x" in finding.what


def test_every_bad_line_is_told(tmp_path):
    lines = '{"prompt": "a"}\nx\n{"prompt": "b"}\n7\n'
    (tmp_path / "prompts.jsonl").write_text(lines)
    places = [finding.where.rpartition(":")[2] for finding in findings(tmp_path)]
    assert places == ["2", "4"]


def test_without_a_workload_or_a_file_there_is_nothing_to_read(tmp_path):
    assert not list(prompts(subject(base=tmp_path)))
    assert not list(prompts(subject(workload={"prompts": "absent.jsonl"})))


def template_findings(base, name="chat.jinja"):
    return list(chat_template(subject(base=base, target={"chat_template": name})))


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"  \n", "is empty"),
        (b"{% for m in %}", "is no Jinja template: line 1"),
    ],
)
def test_a_chat_template_that_is_none_is_blocking(tmp_path, content, fault):
    if content is not None:
        (tmp_path / "chat.jinja").write_bytes(content)
    (finding,) = template_findings(tmp_path)
    assert finding.severity == "blocking"
    assert finding.where == "target.chat_template"
    assert f"chat.jinja {fault}" in finding.what


def test_a_chat_template_may_have_what_transformers_adds_to_jinja(tmp_path):
    text = "{% for m in messages %}{%- generation -%}{{ m }}{% endgeneration %}"
    (tmp_path / "chat.jinja").write_text(text + "{% break %}{% endfor %}")
    assert template_findings(tmp_path) == []


def test_a_line_that_is_no_prompt_has_something_to_do(tmp_path):
    (tmp_path / "prompts.jsonl").write_text('{"prompt": ["a"]}\n')
    (finding,) = findings(tmp_path)
    assert finding.action
