"""Every turn as a prompt of its own, and how the answers between them come in."""

import json

import pytest

from trtspec.errors import UsageError
from trtspec.recipe import Prompt, load_prompts
from trtspec.recipe.turns import needs_answers, with_answers


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


@pytest.fixture
def read(tmp_path):
    def load(*entries, turns="all"):
        path = tmp_path / "p.jsonl"
        path.write_text("".join(json.dumps(e) + "\n" for e in entries))
        return load_prompts(path, turns=turns)

    return load


THREE = {"question_id": 81, "category": "writing", "turns": ["One", "Two", "Three"]}


def test_the_first_turn_is_the_default(read):
    assert read(THREE, turns="first") == (Prompt("81", "writing", (user("One"),)),)


def test_later_turns_follow_the_ones_before(read):
    assert read(THREE) == (
        Prompt("81/1", "writing", (user("One"),)),
        Prompt("81/2", "writing", (user("Two"),), follows="81/1"),
        Prompt("81/3", "writing", (user("Three"),), follows="81/2"),
    )


def test_answers_that_are_in_the_file_are_history(read):
    entry = {
        "id": "m",
        "messages": [user("a"), assistant("b"), user("c"), assistant("d")],
    }
    first, second = read(entry)
    assert (first.id, first.messages, first.answer) == ("m/1", (user("a"),), "b")
    assert second.messages == (user("a"), assistant("b"), user("c"))
    assert (second.id, second.answer, second.follows) == ("m/2", "d", "")


def test_a_single_turn_has_a_number_too(read):
    (prompt,) = read({"id": "a", "prompt": "x", "answer": "y"})
    assert (prompt.id, prompt.answer) == ("a/1", "y")


@pytest.mark.parametrize(
    ("entry", "answers"),
    [
        ({**THREE, "reference": ["r1", "r2"]}, ["r1", "", ""]),
        (
            {"messages": [user("a"), assistant("b"), user("c")], "answer": "z"},
            ["b", "z"],
        ),
    ],
)
def test_the_answer_of_a_line_belongs_to_one_turn(read, entry, answers):
    assert [p.answer for p in read(entry)] == answers


def test_ids_that_meet_are_refused(read):
    with pytest.raises(UsageError, match='the id "a/1" is that of line 1 too'):
        read({"id": "a", "prompt": "1"}, {"id": "a", "prompt": "2"})


def test_messages_of_the_model_alone_are_refused(read):
    with pytest.raises(UsageError, match="all messages are the assistant's"):
        read({"messages": [assistant("a")]})


def test_tool_results_are_turns(read):
    tool = {"role": "tool", "content": "22 degrees"}
    messages = [
        user("weather?"),
        assistant("calls"),
        tool,
        assistant("warm"),
        user("ok"),
    ]
    prompts = read({"id": "t", "messages": messages})
    assert [p.messages[-1]["role"] for p in prompts] == ["user", "tool", "user"]


class Model:
    """Answers with what it was asked, and remembers the rounds."""

    def __init__(self):
        self.rounds = []

    def __call__(self, prompts):
        self.rounds.append([p.id for p in prompts])
        return [f"<{p.messages[-1]['content']}>" for p in prompts]


def test_answers_fill_the_history_round_by_round(read):
    model = Model()
    other = {"id": "x", "turns": ["A", "B"]}
    single = {"id": "y", "prompt": "P"}
    prompts = read(THREE, other, single)
    assert needs_answers(prompts)
    done = with_answers(prompts, model)
    assert [p.id for p in done] == [p.id for p in prompts]
    assert not needs_answers(done)
    assert model.rounds == [["81/1", "x/1"], ["81/2"]]
    assert done[2].messages == (
        user("One"), assistant("<One>"), user("Two"), assistant("<Two>"), user("Three"),
    )  # fmt: skip
    assert done[4].messages == (user("A"), assistant("<A>"), user("B"))


def test_nothing_is_asked_where_nothing_follows(read):
    model = Model()
    prompts = read({"prompt": "a"}, {"prompt": "b"})
    assert with_answers(prompts, model) == prompts
    assert model.rounds == []


def test_the_order_of_the_prompts_does_not_matter(read):
    prompts = read(THREE)
    assert with_answers(prompts[::-1], Model()) == with_answers(prompts, Model())[::-1]


def test_a_prompt_whose_first_turn_was_left_out_is_refused(read):
    with pytest.raises(UsageError) as caught:
        with_answers(read(THREE)[1:], Model())
    assert [p.where for p in caught.value.problems] == ["prompt 81/2", "prompt 81/3"]
    assert "it follows 81/1" in caught.value.problems[0].what


def test_a_wrong_number_of_answers_is_an_error(read):
    with pytest.raises(ValueError, match="zip"):
        with_answers(read(THREE), lambda prompts: [])
