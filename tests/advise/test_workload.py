"""What a prompts file tells: lengths, answers, and how far these repeat the prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.advise.asking import prompts
from trtspec.advise.ranking import repetition_told
from trtspec.advise.workload import read_workload
from trtspec.errors import UsageError

CODE = "def add(a, b): return a + b ; def sub(a, b): return a - b ; print(add(1, 2))"
BUNDLED = sorted(
    (Path(__file__).resolve().parents[2] / "recipes/workloads").glob("*.jsonl")
)


def words(texts):
    """Encode one token a word."""
    return [list(range(len(text.split()))) for text in texts]


def read(directory, *lines, encode=None):
    return read_workload(Path(prompts(directory, *lines)), encode)


def test_lengths_are_counted_by_the_tokenizer_if_there_is_one(tmp_path):
    lines = ({"prompt": "a b c"}, {"prompt": "a b c d e", "answer": "x y"})
    found = read(tmp_path, *lines, encode=words)
    assert (found.longest_prompt, found.longest_answer) == (5, 2)
    assert found.counted
    assert (found.prompts, found.answers) == (2, 1)


def test_without_a_tokenizer_three_bytes_are_a_token(tmp_path):
    found = read(tmp_path, {"prompt": "x" * 10}, {"prompt": "ä" * 8})
    assert found.longest_prompt == 6  # 16 bytes, rounded up
    assert not found.counted


def test_answers_that_edit_their_prompt_repeat_it(tmp_path):
    found = read(tmp_path, {"prompt": CODE, "answer": CODE + " # typed"})
    assert found.copied > 0.8
    assert found.repeats
    assert "outputs repeat inputs" in repetition_told(found)


def test_answers_of_their_own_do_not(tmp_path):
    answer = "Nobody wrote these words into any question that was put here before."
    found = read(tmp_path, {"prompt": CODE, "answer": answer})
    assert found.copied == 0.0
    assert not found.repeats
    assert "expect little" in repetition_told(found)


def test_prompts_without_answers_say_little_about_outputs(tmp_path):
    found = read(tmp_path, {"prompt": f"{CODE}\n{CODE}"})
    assert found.copied > 0.4
    assert not found.repeats
    assert "says little about outputs" in repetition_told(found)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("reference", ["the first", "the second"]),  # Spec-Bench
        ("answer", "the first"),
        ("response", "the first"),
    ],
)
def test_answers_are_found_under_their_usual_names(tmp_path, key, value):
    found = read(tmp_path, {"turns": ["a question"], key: value}, encode=words)
    assert (found.answers, found.longest_answer) == (1, 2)


@pytest.mark.parametrize("value", [None, "", 7, [], [7], {"a": 1}], ids=str)
def test_an_answer_that_is_no_text_counts_as_none(tmp_path, value):
    found = read(tmp_path, {"prompt": "a question", "answer": value})
    assert (found.answers, found.longest_answer) == (0, None)


def test_blank_lines_do_not_shift_answers(tmp_path):
    path = tmp_path / "w.jsonl"
    line = json.dumps({"prompt": CODE, "answer": CODE})
    other = json.dumps({"prompt": "who?", "answer": "one two three four five"})
    path.write_text(f"\n{line}\n\n{other}\n")
    assert read_workload(path, None).answers == 2
    assert read_workload(path, None).copied > 0.5


def test_line_breaks_of_unicode_within_a_text_end_no_line(tmp_path):
    path = tmp_path / "w.jsonl"
    path.write_text('{"prompt": "a\u2028b\x85c", "answer": "d"}\n', encoding="utf-8")
    assert read_workload(path, None).answers == 1


def test_a_broken_line_is_refused_with_its_place(tmp_path):
    path = tmp_path / "w.jsonl"
    path.write_text('{"prompt": "a"}\n{"promt": "b"}\n')
    with pytest.raises(UsageError, match=r"w\.jsonl:2"):
        read_workload(path, None)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_the_bundled_workloads_are_read(path):
    found = read_workload(path, None)
    assert found.prompts == 16
    assert found.longest_prompt < 2048


def test_a_lone_carriage_return_between_tokens_ends_no_line(tmp_path):
    path = tmp_path / "w.jsonl"
    path.write_bytes(b'{"prompt": "hello",\r "answer": "b"}\n')
    assert read_workload(path, None).answers == 1


def test_an_answer_that_is_no_text_in_utf_8_counts_as_none(tmp_path):
    path = tmp_path / "w.jsonl"
    path.write_text('{"prompt": "hello", "answer": "\\ud800"}\n')
    assert read_workload(path, None).answers == 0


def test_turns_of_the_assistant_are_answers_to_what_stands_before_them(tmp_path):
    said = [("user", "one two"), ("assistant", "three four five"), ("user", "six")]
    messages = [{"role": role, "content": content} for role, content in said]
    found = read(tmp_path, {"messages": messages}, {"prompt": "a"}, encode=words)
    assert (found.answers, found.longest_answer) == (1, 3)
    assert found.longest_prompt == 6
    assert found.copied == 0.0  # it would be copied whole from a prompt that holds it
