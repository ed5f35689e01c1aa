"""Token ids are read from every tokenizer file and compared id by id."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.models.tiny import TOKENS, write_gguf, write_tokenizer
from trtspec.errors import UsageError
from trtspec.models.vocabulary import (
    TokenDifference,
    compare_vocabularies,
    token_map,
)

IDS = {token: index for index, token in enumerate(TOKENS)}
VOCABULARIES = st.dictionaries(st.text(max_size=3), st.integers(0, 20), max_size=12)


def write_json(directory, value, name="tokenizer.json"):
    (directory / name).write_text(json.dumps(value))


def refusal(directory):
    with pytest.raises(UsageError) as caught:
        token_map(directory)
    return caught.value.problems[0].what


def test_tokens_of_a_tokenizer_file_are_those_the_library_gives(tmp_path):
    write_tokenizer(tmp_path, added=["<end>"])
    library = Tokenizer.from_file(str(tmp_path / "tokenizer.json")).get_vocab()
    assert token_map(tmp_path) == library == IDS | {"<end>": len(TOKENS)}


def test_unigram_tokens_are_numbered_in_order(tmp_path):
    model = {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.5], ["b", -2.0]]}
    write_json(tmp_path, {"model": model})
    assert token_map(tmp_path) == {"<unk>": 0, "a": 1, "b": 2}


def test_tokens_of_a_gguf_are_read_even_if_they_are_many(tmp_path):
    many = tuple(f"t{n}" for n in range(1500))
    write_gguf(tmp_path, tokens=many)
    assert token_map(tmp_path) == {token: n for n, token in enumerate(many)}


def test_a_vocab_file_is_read_with_the_tokens_added_to_it(tmp_path):
    write_json(tmp_path, {"a": 0, "b": 1}, "vocab.json")
    assert token_map(tmp_path) == {"a": 0, "b": 1}
    write_json(tmp_path, {"<end>": 2}, "added_tokens.json")
    assert token_map(tmp_path) == {"a": 0, "b": 1, "<end>": 2}


def test_without_a_list_of_tokens_there_is_no_map(tmp_path):
    (tmp_path / "tokenizer.model").touch()
    assert token_map(tmp_path) is None
    write_gguf(tmp_path, tokens=None)
    assert token_map(tmp_path) is None


@pytest.mark.parametrize("model", [None, {}, {"vocab": "abc"}, {"vocab": None}])
def test_a_tokenizer_without_tokens_is_refused(tmp_path, model):
    write_json(tmp_path, {"model": model})
    assert refusal(tmp_path) == "has no model.vocab"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"model": {"vocab": {"a": "0"}}}, "gives the token 'a' the id '0'"),
        ({"model": {"vocab": {"a": -1}}}, "gives the token 'a' the id -1"),
        ({"model": {"vocab": {"a": True}}}, "gives the token 'a' the id True"),
        ({"model": {"vocab": ["a"]}}, "has the vocabulary entry 'a'"),
        ({"model": {"vocab": {}}, "added_tokens": ["x"]}, "has the added token 'x'"),
        ({"model": {"vocab": {}}, "added_tokens": [{}]}, "gives the token None the id"),
    ],
)
def test_damaged_entries_are_named(tmp_path, value, message):
    write_json(tmp_path, value)
    assert message in refusal(tmp_path)


def test_a_changed_file_is_read_again_and_no_caller_changes_anothers_map(tmp_path):
    write_tokenizer(tmp_path, tokens=("a", "b"))
    token_map(tmp_path).clear()
    assert token_map(tmp_path) == {"a": 0, "b": 1}
    write_tokenizer(tmp_path, tokens=("b", "a", "c"))
    assert token_map(tmp_path) == {"b": 0, "a": 1, "c": 2}


def test_equal_vocabularies_match():
    match = compare_vocabularies(IDS, dict(reversed(IDS.items())))
    assert match.equal
    assert match.entries == (16, 16)
    assert match.examples == {}


def test_swapped_ids_are_shown_with_both_strings():
    match = compare_vocabularies({"a": 0, "b": 1, "c": 2}, {"b": 0, "a": 1, "c": 2})
    assert not match.equal
    assert match.differing == 2
    shown = (TokenDifference(0, "a", "b"), TokenDifference(1, "b", "a"))
    assert match.examples == {"conflict": shown}


def test_an_id_that_one_side_lacks_is_a_difference():
    match = compare_vocabularies({"a": 0}, {"a": 0, "<end>": 7})
    assert match.entries == (1, 2)
    assert match.examples["only_theirs"] == (TokenDifference(7, None, "<end>"),)


def test_only_the_first_differences_are_shown_but_all_are_counted():
    match = compare_vocabularies(IDS, {f"x{n}": n for n in range(16)})
    assert match.differing == 16
    assert [d.id for d in match.examples["conflict"]] == [0, 1, 2, 3, 4]


@given(ours=VOCABULARIES, theirs=VOCABULARIES)
def test_vocabularies_match_exactly_when_every_id_means_the_same(ours, theirs):
    match = compare_vocabularies(ours, theirs)
    a = {index: token for token, index in ours.items()}
    b = {index: token for token, index in theirs.items()}
    assert match.equal == (a == b)
    assert match.differing == sum(a.get(n) != b.get(n) for n in range(21))
    shown = [one for few in match.examples.values() for one in few]
    assert all(a.get(d.id) == d.ours and b.get(d.id) == d.theirs for d in shown)


@pytest.mark.parametrize(
    ("ours", "theirs", "kinds"),
    [
        ({"a": 0, "b": 1}, {"b": 0, "a": 1}, {"conflict": (0, 1)}),
        ({"a": 0}, {"a": 0, "x": 5}, {"only_theirs": (5,)}),
        ({"a": 0, "x": 5}, {"a": 0}, {"only_ours": (5,)}),
        ({"Ġa": 0, "Ċ": 1}, {"▁a": 0, "<0x0A>": 1}, {"spelled": (0, 1)}),
        ({"Ġa": 0, "Ġb": 1}, {" a": 0, " b": 1}, {"spelled": (0, 1)}),
        ({"Ġa": 0, "b": 1}, {"▁a": 0, "c": 1}, {"spelled": (0,), "conflict": (1,)}),
        ({"Ġa": 0}, {"Ġ a": 0}, {"conflict": (0,)}),
    ],
)
def test_each_differing_id_is_of_one_kind(ours, theirs, kinds):
    match = compare_vocabularies(ours, theirs)
    assert match.ids == kinds
    assert match.same_tokens == ("conflict" not in kinds)
    assert match.count(*kinds) == match.differing
    assert match.examples.keys() == match.ids.keys()


@pytest.mark.parametrize(
    ("theirs", "special", "kind"),
    [
        ({"a": 0, "<new>": 1}, ({"<old>"}, {"<new>"}), "renamed"),
        ({"a": 0, "<new>": 1}, ({"<old>"}, ()), "conflict"),
        ({"<old>": 0, "a": 1}, ({"<old>"}, {"<old>"}), "conflict"),
        ({"a": 0, "<new>": 1, "<old>": 2}, ({"<old>"}, {"<new>", "<old>"}), "conflict"),
    ],
)
def test_only_a_special_token_whose_name_is_new_counts_as_renamed(
    theirs, special, kind
):
    match = compare_vocabularies({"a": 0, "<old>": 1}, theirs, special)
    assert 1 in match.ids[kind]
