"""ShareGPT conversations and OpenAI batch files become prompts, or say why not."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.recipe import load_prompts
from trtspec.recipe.prompt_layouts import LayoutError, messages_of, turns_of


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "s"}


def said(*pairs):
    """A ShareGPT conversation: h is a person, g the model, s the system prompt."""
    names = {"h": "human", "g": "gpt", "s": "system"}
    return {"conversations": [{"from": names[p[0]], "value": p[1:]} for p in pairs]}


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        (said("ha", "gb"), [user("a")]),
        (said("ha"), [user("a")]),
        (said("ss", "ha", "gb", "hc"), [SYSTEM, user("a")]),
        (said("gx", "ha", "gb"), [user("a")]),
        (said("gx", "ss", "ha"), [SYSTEM, user("a")]),
        ({"conversation": [{"role": "user", "content": "a"}]}, [user("a")]),
        ({"conversation": [{"human": "a", "assistant": "b"}]}, [user("a")]),
        ({"conversations": [{"from": "user", "value": "a"}]}, [user("a")]),
        ({**said("ha"), "id": "x", "model": ""}, [user("a")]),
        (said("ha", "hb", "gc"), [user("a"), user("b")]),
    ],
)
def test_the_first_turn_of_a_shared_conversation(entry, messages):
    assert list(messages_of(entry)) == messages


def test_every_turn_of_it_has_what_was_said_before_and_its_answer():
    turns = turns_of(said("ss", "ha", "gb", "hc", "gd", "he"), every=True)
    assert [list(t.messages) for t in turns] == [
        [SYSTEM, user("a")],
        [SYSTEM, user("a"), assistant("b"), user("c")],
        [SYSTEM, user("a"), assistant("b"), user("c"), assistant("d"), user("e")],
    ]
    assert [t.answer for t in turns] == ["b", "d", ""]
    assert not any(t.follows for t in turns)


@pytest.mark.parametrize(
    ("entry", "asked"),
    [
        (said("ha", "g", "hc"), ["a"]),
        (said("ha", "gb", "h ", "gd"), ["a"]),
        (said("h", "gb", "hc"), []),
        (said("gb"), []),
        (said("ss"), []),
        ({"conversations": []}, []),
    ],
)
def test_a_conversation_ends_where_a_text_is_empty(entry, asked):
    turns = turns_of(entry, every=True)
    assert [t.messages[-1]["content"] for t in turns] == asked


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        ({"conversations": {}}, "conversations is an object"),
        ({"conversations": "a"}, "conversations is text"),
        ({"conversations": None}, "conversations is missing"),
        ({"conversations": ["a"]}, "conversations[0] is text"),
        ({"conversations": [{}]}, "conversations[0].role is missing"),
        ({"conversations": [{"from": "me", "value": "a"}]}, "conversations[0].from is"),
        ({"conversations": [{"from": ["human"]}]}, "conversations[0].from is ["),
        ({"conversations": [{"from": "human"}]}, "conversations[0].value is missing"),
        (
            {"conversations": [{"from": "human", "value": 3}]},
            "conversations[0].value is a",
        ),
        (
            {"conversation": [{"human": "a", "assistant": 3}]},
            "conversation[0].assistant",
        ),
        (
            {"conversations": [{"from": "human", "value": "\ud800"}]},
            "conversations[0] has half a surrogate pair",
        ),
        (
            {"conversations": [], "conversation": []},
            "there are both conversations and conversation; give one",
        ),
        ({**said("ha"), "prompt": "a"}, "there are both prompt and conversations"),
    ],
)
def test_refused_conversations_say_why(entry, what):
    with pytest.raises(LayoutError) as caught:
        messages_of(entry)
    assert caught.value.what.startswith(what)
    assert caught.value.allowed


def chat(*messages, **more):
    return {
        "custom_id": "r-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": list(messages), "max_tokens": 5},
        **more,
    }


def completions(prompt):
    return chat() | {"url": "/v1/completions", "body": {"model": "m", "prompt": prompt}}


@pytest.mark.parametrize(
    ("entry", "messages"),
    [
        (chat(SYSTEM, user("a")), [SYSTEM, user("a")]),
        (
            chat(user("a"), assistant("b"), user("c")),
            [user("a"), assistant("b"), user("c")],
        ),
        (completions("a"), [user("a")]),
        (completions(["a"]), [user("a")]),
        ({"body": {"messages": [user("a")]}}, [user("a")]),
    ],
)
def test_lines_of_a_batch_file(entry, messages):
    assert list(messages_of(entry)) == messages


def test_every_turn_of_a_batch_line():
    turns = turns_of(chat(user("a"), assistant("b"), user("c")), every=True)
    assert [len(t.messages) for t in turns] == [1, 3]


@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (chat(user("a"), url="/v1/embeddings"), 'url is "/v1/embeddings"'),
        (chat(user("a"), url=None), "url is null"),
        ({"body": "a"}, "body is text"),
        (chat(), "body.messages is an empty list"),
        ({"body": {}}, "body.messages is missing"),
        (chat({"role": "me", "content": "a"}), 'body.messages[0].role is "me"'),
        (chat(user([{"type": "text"}])), "body.messages[0].content is a list"),
        (chat(user("a"), assistant("b")), "the last message is the assistant's"),
        (completions(None), "body.prompt is missing"),
        (completions(["a", "b"]), "body.prompt is a list of 2"),
        (completions([3, 4]), "body.prompt is a list of 2"),
        (completions([3]), "body.prompt is a number"),
    ],
)
def test_refused_batch_lines_say_why(entry, what):
    with pytest.raises(LayoutError) as caught:
        messages_of(entry)
    assert caught.value.what.startswith(what)


def test_files_of_both_kinds_are_read(tmp_path):
    path = tmp_path / "p.jsonl"
    lines = [chat(user("a")), {**said("hb", "gc"), "id": "s-1"}, said("gx")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    prompts = load_prompts(path)
    assert [(p.id, p.messages[-1]["content"], p.answer) for p in prompts] == [
        ("r-1", "a", ""),
        ("s-1", "b", "c"),
    ]


def test_a_shared_file_is_one_list(tmp_path):
    path = tmp_path / "share.json"
    path.write_text(
        json.dumps([{"id": "a", **said("hb", "gc")}, {"id": "b", **said()}])
    )
    assert [p.id for p in load_prompts(path)] == ["a"]


def test_a_file_in_which_nobody_asks_has_no_prompts(tmp_path):
    path = tmp_path / "share.json"
    path.write_text(json.dumps([said("gx"), said()]))
    with pytest.raises(UsageError, match="nobody asks anything in its conversations"):
        load_prompts(path)


@given(st.lists(st.tuples(st.sampled_from("hgs"), st.text(max_size=3)), max_size=8))
def test_no_turn_ends_with_the_model_and_none_holds_an_empty_text(pairs):
    entry = {
        "conversations": [
            {"from": {"h": "human", "g": "gpt", "s": "system"}[who], "value": text}
            for who, text in pairs
        ]
    }
    for turn in turns_of(entry, every=True):
        assert turn.messages[-1]["role"] == "user"
        assert all(m["content"].strip() for m in turn.messages)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "from",
                    "value",
                    "role",
                    "content",
                    "human",
                    "assistant",
                    "messages",
                    "x",
                ]
            ),
            inner | st.sampled_from(["human", "gpt", "user", "assistant"]),
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(
    entry=st.dictionaries(
        st.sampled_from(
            [
                "prompt",
                "turns",
                "messages",
                "conversations",
                "conversation",
                "body",
                "url",
            ]
        ),
        JSON,
        max_size=2,
    ),
    every=st.booleans(),
)
def test_any_json_is_a_prompt_or_refused_with_a_reason(entry, every):
    reasons, turns = [], ()
    try:
        turns = turns_of(entry, every=every)
    except LayoutError as error:
        reasons = [error.what, error.allowed]
    assert all(reasons)
    assert all(turn.messages for turn in turns)
