"""A workload's text is weighed by what could be drafted of it."""

import pytest

from tests.check.samples import MODEL, subject
from trtspec.check.workload_tokens import AcceptanceBound, acceptance_bound, percent

TOKENS = {"a": 0, "b": 1, "c": 2}


def bound(folder, *lines, draftable=(0, 1)):
    (folder / "prompts.jsonl").write_text("\n".join(lines))
    found = subject(MODEL, base=folder, workload={"prompts": "prompts.jsonl"})
    return acceptance_bound(found, TOKENS, draftable)


def test_tokens_of_all_prompts_are_weighed_by_how_often_they_occur(tmp_path):
    found = bound(tmp_path, '{"prompt": "aaab"}', '{"prompt": "cccc"}')
    assert found == AcceptanceBound(0.5, "prompts")


def test_where_there_are_answers_they_alone_count(tmp_path):
    said = '{"role": "user", "content": "cc"}, {"role": "assistant", "content": "ab"}'
    more = '{"role": "user", "content": "c"}'
    line = f'{{"messages": [{said}, {more}]}}'
    assert bound(tmp_path, line) == AcceptanceBound(1.0, "answers")


@pytest.mark.parametrize("key", ["answer", "reference"])
def test_answers_beside_the_prompt_count_as_init_counts_them(tmp_path, key):
    found = bound(tmp_path, f'{{"prompt": "cccc", "{key}": "ab"}}', '{"prompt": "c"}')
    assert found == AcceptanceBound(1.0, "answers")


@pytest.mark.parametrize("line", ["", "{", '{"prompt": "zzz"}'])
def test_a_workload_without_tokens_tells_nothing(tmp_path, line):
    assert bound(tmp_path, line) is None


def test_without_a_workload_or_a_folder_there_is_nothing_to_weigh(tmp_path):
    assert acceptance_bound(subject(MODEL, base=tmp_path), TOKENS, (0,)) is None
    loose = subject(MODEL, workload={"prompts": "prompts.jsonl"})
    assert acceptance_bound(loose, TOKENS, (0,)) is None


def test_the_sentence_says_what_it_bounds_and_that_it_is_an_estimate():
    text = AcceptanceBound(0.5, "prompts").sentence(2)
    assert "50.0 % of the tokens in the workload's prompts" in text
    assert "at draft_length 2 at most 1.75 of 3 tokens per verification step" in text
    assert "an estimate by longest match; answers may hold other words" in text
    assert "other words" not in AcceptanceBound(0.5, "answers").sentence(2)


@pytest.mark.parametrize(
    ("share", "text"),
    [(1, "100 %"), (0.99999, "99.9 %"), (0.5, "50.0 %"), (0, "0.0 %")],
)
def test_less_than_all_is_never_all(share, text):
    assert percent(share) == text
