"""Special tokens, end tokens and chat templates are read from all files they are in."""

import pytest

from tests.models.test_token_list import template
from tests.models.vocabularies import numbered, write_json, write_tokens
from trtspec.models.tokenizer_settings import (
    ENDS,
    START,
    chat_template,
    compare_settings,
    read_settings,
)

CONFIG = "tokenizer_config.json"


def compared(directory, name, ours, theirs):
    for side, content in {"a": ours, "b": theirs}.items():
        write_json(directory / side, name, **content)
    return compare_settings(directory / "a", directory / "b")


def test_no_files_tell_nothing(tmp_path):
    assert read_settings(tmp_path) == {}
    assert chat_template(tmp_path) is None


def test_tokens_are_strings_or_objects_and_the_later_file_wins(tmp_path):
    write_json(tmp_path, "special_tokens_map.json", eos_token="old", pad_token="p")
    write_json(tmp_path, CONFIG, eos_token={"content": "<e>"}, bos_token=None)
    settings = read_settings(tmp_path)
    assert settings["eos_token"] == "<e>"
    assert settings["pad_token"] == "p"
    assert settings["bos_token"] == settings["unk_token"] == "none"


@pytest.mark.parametrize("name", ["bos_token", "eos_token", "pad_token", "unk_token"])
def test_each_special_token_that_differs_is_told(tmp_path, name):
    found = compared(tmp_path, CONFIG, {name: "x"}, {name: {"content": "y"}})
    assert found == ((name, "x", "y"),)
    assert compared(tmp_path, CONFIG, {name: "x"}, {name: {"content": "x"}}) == ()


@pytest.mark.parametrize(
    ("config", "processor", "start"),
    [
        ({"add_bos_token": True, "bos_token": "<s>"}, None, "<s>"),
        ({"add_bos_token": False, "bos_token": "<s>"}, None, "none"),
        ({"bos_token": "<s>"}, template("<s>"), "<s>"),
        ({}, template(), "none"),
        ({"bos_token": "<s>"}, None, None),
    ],
)
def test_what_is_put_before_a_text_is_told_by_the_template_or_the_switch(
    tmp_path, config, processor, start
):
    write_tokens(tmp_path, numbered(3), ["<s>"], post_processor=processor)
    write_json(tmp_path, CONFIG, **config)
    assert read_settings(tmp_path).get(START) == start


def test_a_switch_that_differs_is_told_with_the_token(tmp_path):
    ours, theirs = (
        {"bos_token": "<s>", "add_bos_token": adds} for adds in (True, False)
    )
    assert compared(tmp_path, CONFIG, ours, theirs) == ((START, "<s>", "none"),)


@pytest.mark.parametrize(
    ("ours", "theirs", "shown"),
    [
        ([128001, 128009], 128001, ("128001, 128009", "128001")),
        (2, 3, ("2", "3")),
        ([3, 2], [2, 3], None),
        (2, [2], None),
        (2, None, None),
        ("2", 3, None),
    ],
)
def test_end_tokens_of_an_answer_are_compared_as_sets(tmp_path, ours, theirs, shown):
    sides = [{"eos_token_id": side} for side in (ours, theirs)]
    found = compared(tmp_path, "generation_config.json", *sides)
    assert found == (((ENDS, *shown),) if shown else ())


def test_ends_are_compared_by_the_first_file_that_both_have(tmp_path):
    for side, end in {"a": 7, "b": 8}.items():
        write_json(tmp_path / side, "config.json", eos_token_id=end)
    folders = tmp_path / "a", tmp_path / "b"
    assert compare_settings(*folders) == ((ENDS, "7", "8"),)
    write_json(tmp_path / "a", "generation_config.json", eos_token_id=[8, 9])
    assert compare_settings(*folders) == ((ENDS, "7", "8"),)
    write_json(tmp_path / "b", "generation_config.json", eos_token_id=[9, 8])
    assert compare_settings(*folders) == ()


@pytest.mark.parametrize(
    ("content", "template"),
    [
        ({"chat_template": " {{ a }}\n"}, "{{ a }}"),
        ({}, ""),
        (
            {
                "chat_template": [
                    {"name": "tool_use", "template": "t"},
                    {"name": "default", "template": "d"},
                ]
            },
            "d",
        ),
        ({"chat_template": [{"name": "rag", "template": "r"}]}, "r"),
        ({"chat_template": ["odd"]}, ""),
    ],
)
def test_a_template_is_text_or_the_default_of_several(tmp_path, content, template):
    write_json(tmp_path, CONFIG, **content)
    assert chat_template(tmp_path) == template


def test_a_template_of_its_own_file_goes_first(tmp_path):
    write_json(tmp_path, CONFIG, chat_template="inner")
    write_json(tmp_path, "chat_template.json", chat_template="json")
    assert chat_template(tmp_path) == "json"
    (tmp_path / "chat_template.jinja").write_text("jinja\n")
    assert chat_template(tmp_path) == "jinja"


def test_templates_are_shown_by_the_first_line_that_differs(tmp_path):
    found = compared(
        tmp_path,
        CONFIG,
        {"chat_template": "a\n  ours\nc"},
        {"chat_template": "a\n  theirs\nc"},
    )
    assert found == (("chat_template, line 2", "ours", "theirs"),)


def test_a_side_without_a_template_shows_nothing(tmp_path):
    found = compared(tmp_path, CONFIG, {"chat_template": "a"}, {})
    assert found == (("chat_template, line 1", "a", "none"),)
