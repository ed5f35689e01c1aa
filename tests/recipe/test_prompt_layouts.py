"""Layouts of a prompts line: each becomes one conversation, or says why not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.recipe.prompt_layouts import ROLES, LayoutError, messages_of, word_of


def user(text):
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        ({"prompt": "a"}, [user("a")]),
        ({"turns": ["a"]}, [user("a")]),
        ({"turns": ["a", "b"]}, [user("a")]),
        ({"messages": [user("a")]}, [user("a")]),
        (
            {
                "messages": [
                    {"role": "system", "content": "s"},
                    user("a"),
                    {"role": "assistant", "content": "b"},
                    user("c"),
                ]
            },
            [
                {"role": "system", "content": "s"},
                user("a"),
                {"role": "assistant", "content": "b"},
                user("c"),
            ],
        ),
        ({"prompt": "a", "reference": ["x"], "id": 3}, [user("a")]),
        ({"messages": [{**user("a"), "name": "N"}]}, [user("a")]),
        ({"prompt": " a\n"}, [user(" a\n")]),
    ],
)
def test_accepted_layouts(entry, messages):
    assert list(messages_of(entry)) == messages


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({}, "there is no prompt; the keys are: none"),
        ({"text": "a", "n": 1}, 'there is no prompt; the keys are: "text", "n"'),
        (
            {"prompt": "a", "turns": ["b"]},
            "there are both prompt and turns; give one",
        ),
        ({"prompt": ""}, "prompt is empty"),
        ({"prompt": " \n\t"}, "prompt is empty"),
        ({"prompt": None}, "prompt is missing"),
        ({"prompt": 3}, "prompt is a number"),
        ({"prompt": True}, "prompt is true or false"),
        ({"prompt": ["a"]}, "prompt is a list"),
        ({"prompt": "\ud800"}, "prompt has half a surrogate pair in it"),
        ({"turns": []}, "turns is an empty list"),
        ({"turns": "a"}, "turns is text"),
        ({"turns": [""]}, "turns[0] is empty"),
        ({"turns": [{}]}, "turns[0] is an object"),
        ({"messages": []}, "messages is an empty list"),
        ({"messages": {}}, "messages is an object"),
        ({"messages": ["a"]}, "messages[0] is text"),
        ({"messages": [{"content": "a"}]}, "messages[0].role is missing"),
        ({"messages": [{"role": "me", "content": "a"}]}, 'messages[0].role is "me"'),
        ({"messages": [{"role": ["user"], "content": "a"}]}, "messages[0].role is ["),
        ({"messages": [{"role": "user"}]}, "messages[0].content is missing"),
        ({"messages": [user("")]}, "messages[0].content is empty"),
        ({"messages": [user([{"type": "text"}])]}, "messages[0].content is a list"),
    ],
)
def test_refused_layouts_say_why(entry, what):
    with pytest.raises(LayoutError) as caught:
        messages_of(entry)
    assert caught.value.what.startswith(what)
    assert caught.value.allowed


def test_answer_in_the_prompt_is_refused():
    entry = {"messages": [user("a"), {"role": "assistant", "content": "b"}]}
    with pytest.raises(LayoutError, match="its answer is in the prompt") as caught:
        messages_of(entry)
    assert caught.value.action == "delete the last message"


@given(text=st.text(min_size=1).filter(str.strip))
def test_text_reaches_the_model_unchanged(text):
    assert messages_of({"prompt": text})[0]["content"] == text


@given(
    st.lists(st.fixed_dictionaries({"role": st.sampled_from(ROLES)}), min_size=1),
)
def test_conversation_ends_before_an_answer(messages):
    entry = {"messages": [m | {"content": "x"} for m in messages]}
    if messages[-1]["role"] == "assistant":
        with pytest.raises(LayoutError):
            messages_of(entry)
    else:
        assert list(messages_of(entry)) == entry["messages"]


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ({"id": "a"}, "a"),
        ({"id": 81}, "81"),
        ({"question_id": 81}, "81"),
        ({"id": "a", "question_id": 81}, "a"),
        ({"id": None, "question_id": 81}, "81"),
        ({}, ""),
    ],
)
def test_word_is_the_first_that_is_there(entry, word):
    assert word_of(entry, "id", "question_id") == word


@pytest.mark.parametrize("value", [True, 1.5, [], {}, "", " "])
def test_word_of_another_type_is_refused(value):
    with pytest.raises(LayoutError, match=r"^id is "):
        word_of({"id": value}, "id")
