"""Tokens, special ones and what stands before a text are read from tokenizer files."""

import json

import pytest

from tests.models.tiny import TOKENS, write_gguf
from tests.models.vocabularies import numbered, write_json, write_tokens
from trtspec.errors import UsageError
from trtspec.models import token_list
from trtspec.models.token_list import listed_tokens


def template(*names):
    """Make a post-processor that puts these tokens before a text."""
    start = [{"SpecialToken": {"id": name, "type_id": 0}} for name in names]
    return {
        "type": "TemplateProcessing",
        "single": [*start, {"Sequence": {"id": "A", "type_id": 0}}],
    }


def test_added_tokens_are_listed_and_the_special_ones_marked(tmp_path):
    write_tokens(tmp_path, numbered(3), ["<s>", "<e>"])
    listed = listed_tokens(tmp_path)
    assert listed.tokens == {"t0": 0, "t1": 1, "t2": 2, "<s>": 3, "<e>": 4}
    assert listed.special == {"<s>", "<e>"}
    assert not listed_tokens(
        write_tokens(tmp_path, numbered(3), ["<s>"], special=False)
    ).special


@pytest.mark.parametrize(
    ("processor", "start"),
    [
        (template("<s>"), ("<s>",)),
        (template("<a>", "<b>"), ("<a>", "<b>")),
        (template(), ()),
        ({"type": "ByteLevel"}, None),
        ({"type": "Sequence", "processors": [{"type": "ByteLevel"}]}, None),
        (
            {
                "type": "Sequence",
                "processors": [{"type": "ByteLevel"}, template("<s>")],
            },
            ("<s>",),
        ),
        ({"single": ["odd", 3]}, ()),
        (None, None),
        ("odd", None),
    ],
)
def test_what_stands_before_a_text_is_the_template_processors(
    tmp_path, processor, start
):
    write_tokens(tmp_path, numbered(2), post_processor=processor)
    assert listed_tokens(tmp_path).start == start


def test_the_same_file_in_two_places_is_read_once(tmp_path, monkeypatch):
    reads = []
    read = token_list._read
    monkeypatch.setattr(token_list, "_READ", {})
    monkeypatch.setattr(token_list, "_read", lambda path: reads.append(1) or read(path))
    for name in ("a", "b"):
        write_tokens(tmp_path / name, numbered(7, "once"))
    assert listed_tokens(tmp_path / "a") is listed_tokens(tmp_path / "b")
    assert len(reads) == 1


@pytest.mark.parametrize("spaces", [None, 1])
def test_merges_are_left_out_and_a_token_of_that_name_is_kept(tmp_path, spaces):
    path = write_tokens(tmp_path, ["vocab", "merges", '"merges":[']) / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=spaces))
    assert listed_tokens(tmp_path).tokens == {"vocab": 0, "merges": 1, '"merges":[': 2}


def test_a_file_in_another_order_is_read_whole(tmp_path):
    model = {"merges": [], "vocab": {"a": 0}}
    added = [{"id": 1, "content": "<s>"}]
    write_json(tmp_path, "tokenizer.json", model=model, added_tokens=added, z={"y": []})
    assert listed_tokens(tmp_path).tokens == {"a": 0, "<s>": 1}


def test_a_file_cut_short_in_its_merges_is_refused(tmp_path):
    path = write_tokens(tmp_path, numbered(3)) / "tokenizer.json"
    path.write_text(path.read_text()[:-3])
    with pytest.raises(UsageError) as caught:
        listed_tokens(tmp_path)
    assert "not valid JSON" in caught.value.problems[0].what


@pytest.mark.parametrize(
    "content",
    [
        {"model": {"vocab": [[["a"], 0.0]]}},
        {"model": {"vocab": {}}, "added_tokens": [{"content": ["a"], "id": 0}]},
        {"model": {"vocab": {}}, "added_tokens": [{"content": {}, "id": 0}]},
    ],
)
def test_what_is_no_text_is_refused(tmp_path, content):
    write_json(tmp_path, "tokenizer.json", **content)
    with pytest.raises(UsageError, match="gives the token"):
        listed_tokens(tmp_path)


def test_tokens_of_a_vocab_file_and_of_a_gguf_are_listed(tmp_path):
    write_json(tmp_path / "v", "vocab.json", a=0)
    write_json(tmp_path / "v", "added_tokens.json", **{"<s>": 1})
    assert listed_tokens(tmp_path / "v").special == {"<s>"}
    listed = listed_tokens(write_gguf(tmp_path / "g"))
    assert tuple(listed.tokens) == TOKENS
    assert listed.start is None
