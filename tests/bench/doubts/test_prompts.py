"""Random, repeated and looping prompts are found; no real prompt file is."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from trtspec.bench.doubts import prompt_doubts
from trtspec.bench.doubts.random_ids import distance_from_even
from trtspec.bench.driver import BenchPrompt
from trtspec.recipe import load_prompts

ROOT = Path(__file__).parents[3]
BUNDLED = sorted((ROOT / "recipes/workloads").glob("*.jsonl"))
TEXTS = json.loads(Path(__file__).with_name("texts.json").read_text())
CHINESE, RUSSIAN, GERMAN = TEXTS["chinese"], TEXTS["russian"], TEXTS["german"]
SYLLABLES = [*map("".join, zip("bcdfghjklmnpqrstvwxz", "aeiou" * 4, strict=True))]


SMOLLM2 = Tokenizer.from_file(
    str(ROOT / "recipes/smollm2-135m/drafters/draft-target/tokenizer.json")
)


def trained() -> Tokenizer:
    """A byte-level BPE of 4000 ids, trained on this project's own text and code."""
    texts = [p.read_text() for p in sorted((ROOT / "trtspec").rglob("*.py"))[:250]]
    texts += [p.read_text() for p in BUNDLED]
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=4000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    found.train_from_iterator(texts, trainer)
    return found


@pytest.fixture(scope="module", params=["smollm2", "own"])
def tokenizer(request) -> Tokenizer:
    return SMOLLM2 if request.param == "smollm2" else trained()


def of(texts: Sequence[str], ids: Sequence[Sequence[int]] | None = None):
    return [
        BenchPrompt(
            f"p{i}",
            "",
            ({"role": "user", "content": text},),
            tuple(ids[i]) if ids else None,
        )
        for i, text in enumerate(texts)
    ]


def found(prompts) -> dict[str, bool]:
    return {doubt.id: doubt.fatal for doubt in prompt_doubts(prompts)}


def from_file(path: Path, tokenizer: Tokenizer | None = None):
    prompts = load_prompts(path)
    encode = tokenizer.encode if tokenizer else None
    return [
        BenchPrompt(
            p.id,
            p.category,
            p.messages,
            tuple(encode(p.messages[-1]["content"]).ids) if encode else None,
        )
        for p in prompts
    ]


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_bundled_prompts_have_no_doubts(path, tokenizer):
    assert prompt_doubts(from_file(path)) == ()
    assert prompt_doubts(from_file(path, tokenizer)) == ()


@pytest.mark.parametrize("count", [2, 4, 8])
@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_the_first_few_of_them_have_none_either(path, count, tokenizer):
    assert prompt_doubts(from_file(path, tokenizer)[:count]) == ()


def drawn(tokenizer: Tokenizer, count: int, length: int, seed: int = 0):
    random = np.random.default_rng(seed)
    return random.integers(
        260, tokenizer.get_vocab_size(), size=(count, length)
    ).tolist()


@pytest.mark.parametrize(("count", "length"), [(16, 200), (8, 512), (32, 32)])
def test_drawn_ids_are_fatal(tokenizer, count, length):
    ids = drawn(tokenizer, count, length)
    texts = [tokenizer.decode(row) for row in ids]
    assert found(of(texts, ids)) == {"random-prompts": True}


def test_drawn_ids_are_found_behind_a_template(tokenizer):
    start, end = tuple(range(40)), tuple(range(50, 60))
    ids = [(*start, *row, *end) for row in drawn(tokenizer, 16, 120)]
    assert "random-prompts" in found(of([f"p{i}" for i in range(16)], ids))


def test_drawn_ids_are_found_after_being_decoded_and_encoded_again(tokenizer):
    texts = [tokenizer.decode(row) for row in drawn(tokenizer, 16, 400)]
    again = [tokenizer.encode(text).ids for text in texts]
    assert found(of(texts, again))["random-prompts"]


def test_ids_that_count_up_are_fatal(tokenizer):
    random = np.random.default_rng(1)
    top = tokenizer.get_vocab_size() - 300
    starts = random.integers(300, top, size=16)
    ids = [list(range(s, s + 200)) for s in starts]
    names = [f"prompt {i}" for i in range(16)]
    assert found(of(names, ids)) == {"random-prompts": True}


@pytest.mark.parametrize(("count", "length"), [(16, 256), (8, 512), (32, 32)])
def test_drawn_ids_are_found_in_their_text_alone(count, length):
    texts = [SMOLLM2.decode(row) for row in drawn(SMOLLM2, count, length)]
    assert found(of(texts)) == {"random-prompts": True}


def test_ids_that_count_up_are_found_after_being_decoded_and_encoded_again():
    random = np.random.default_rng(8)
    starts = random.integers(300, 48000, size=16)
    texts = [SMOLLM2.decode(list(range(s, s + 200))) for s in starts]
    again = [SMOLLM2.encode(text).ids for text in texts]
    names = [f"prompt {i}" for i in range(16)]
    assert found(of(names, again)) == {"random-prompts": True}
    assert found(of(texts)) == {"random-prompts": True}


def test_random_words_without_ids_are_fatal():
    random = np.random.default_rng(2)

    def word() -> str:
        return "".join(random.choice(SYLLABLES, size=random.integers(2, 5)))

    texts = [" ".join(word() for _ in range(200)) for _ in range(16)]
    assert found(of(texts)) == {"random-prompts": True}


def test_texts_that_mix_many_scripts_are_fatal():
    scripts = (
        "abcdefgh",
        "абвгдежз",
        "的一是在不了有和",
        "ابتثجحخد",
        "αβγδεζηθ",
        "กขฃคฅฆงจ",
    )
    random = np.random.default_rng(3)
    texts = [
        " ".join(
            "".join(random.choice(list(random.choice(scripts)), size=4))
            for _ in range(80)
        )
        for _ in range(8)
    ]
    assert found(of(texts))["random-prompts"]


def test_a_few_random_ones_among_many_are_left_alone(tokenizer):
    ids = drawn(tokenizer, 1, 300)
    good = [p for path in BUNDLED for p in from_file(path, tokenizer)]
    bad = BenchPrompt("r", "", ({"role": "user", "content": "r"},), tuple(ids[0]))
    assert prompt_doubts([*good, bad]) == ()


def codes(seed: int, count: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [base64.b64encode(random.bytes(30)).decode() for _ in range(count)]


def test_german_has_no_doubts():
    ids = [SMOLLM2.encode(text).ids for text in GERMAN]
    assert prompt_doubts(of(GERMAN)) == ()
    assert prompt_doubts(of(GERMAN, ids)) == ()


def test_chinese_russian_and_both_with_english_have_no_doubts():
    mixed = [f"{zh}\n\nTranslate into Russian, then into English." for zh in CHINESE]
    texts = [*CHINESE, *RUSSIAN, *mixed]
    ids = [SMOLLM2.encode(text).ids for text in texts]
    assert prompt_doubts(of(texts)) == ()
    assert prompt_doubts(of(texts, ids)) == ()
    assert prompt_doubts(of(CHINESE)) == ()


def test_keys_hashes_and_base64_in_a_request_have_no_doubts():
    texts = [
        "Extract the field named token of every record as JSON.\n\n"
        + "\n".join(
            f'{{"id": {i}, "token": "{c}"}}' for i, c in enumerate(codes(s, 12))
        )
        for s in range(8)
    ]
    ids = [SMOLLM2.encode(text).ids for text in texts]
    assert prompt_doubts(of(texts)) == ()
    assert prompt_doubts(of(texts, ids)) == ()


def test_bare_base64_and_hexadecimal_are_not_taken_for_words():
    bare = [" ".join(codes(s, 40)) for s in range(8)]
    random = np.random.default_rng(4)
    hexes = [" ".join(random.bytes(16).hex() for _ in range(60)) for _ in range(8)]
    assert prompt_doubts(of(bare)) == ()
    assert prompt_doubts(of(hexes)) == ()


def test_tables_of_numbers_and_json_have_no_doubts():
    random = np.random.default_rng(6)
    tables = [
        "Sum each column.\n"
        + "\n".join(",".join(map(str, row)) for row in random.integers(0, 999, (40, 6)))
        for _ in range(8)
    ]
    data = [
        "Turn this into YAML: "
        + json.dumps([{"name": f"n{i}", "size": int(n)} for i, n in enumerate(row)])
        for row in random.integers(0, 10**6, (8, 30))
    ]
    ids = [SMOLLM2.encode(text).ids for text in (*tables, *data)]
    assert prompt_doubts(of([*tables, *data])) == ()
    assert prompt_doubts(of([*tables, *data], ids)) == ()


def test_one_list_of_names_among_others_has_no_doubts():
    random = np.random.default_rng(7)
    names = ["".join(random.choice(SYLLABLES, size=3)).title() for _ in range(300)]
    listed = "Sort these names: " + ", ".join(names)
    good = [p for path in BUNDLED[:2] for p in from_file(path)]
    last = BenchPrompt("names", "", ({"role": "user", "content": listed},))
    assert prompt_doubts([*good, last]) == ()


def test_different_words_of_text_are_no_drawn_ids():
    """Ids of text that never repeat are still small for the most part."""
    random = np.random.default_rng(9)
    ids = [
        np.unique(np.exp(random.uniform(3, np.log(49000), 400)).astype(int))
        for _ in range(8)
    ]
    rows = [random.permutation(row).tolist() for row in ids]
    assert prompt_doubts(of([f"prompt {i}" for i in range(8)], rows)) == ()


def made_up(random: np.random.Generator, count: int) -> list[str]:
    return ["".join(random.choice(SYLLABLES, size=4)) for _ in range(count)]


def test_new_words_between_words_that_come_again_are_text():
    random = np.random.default_rng(10)
    texts = []
    for _ in range(8):
        words = made_up(random, 180)
        words[::10] = ["the"] * 18
        texts.append(" ".join(words))
    assert prompt_doubts(of(texts)) == ()
    never = [text.replace("the ", "") for text in texts]
    assert found(of(never)) == {"random-prompts": True}


def test_names_in_a_text_of_another_script_are_not_judged():
    random = np.random.default_rng(11)
    texts = [f"{text * 9} {' '.join(made_up(random, 60))}" for text in CHINESE]
    assert prompt_doubts(of(texts)) == ()
    latin = [text.rpartition("。")[2] for text in texts]
    assert found(of(latin)) == {"random-prompts": True}


def test_repeated_prompts_are_fatal_beyond_a_tenth():
    texts = [p.messages[-1]["content"] for p in from_file(BUNDLED[0])]
    assert found(of([*texts, texts[0]])) == {"repeated-prompts": False}
    assert found(of([*texts, *texts[:4]])) == {"repeated-prompts": True}
    assert found(of([texts[0]] * 16))["repeated-prompts"] is True


def test_blanks_and_case_do_not_make_a_new_prompt():
    assert found(of(["Say  hello", "say hello\n", "Say goodbye"])) == {
        "repeated-prompts": True
    }


def test_a_later_turn_is_no_repetition_of_the_first():
    first = {"role": "user", "content": "Name a city."}
    answer = {"role": "assistant", "content": "Bern."}
    later = ({**first}, answer, {"role": "user", "content": "Name a city."})
    assert (
        found([BenchPrompt("a/1", "", (first,)), BenchPrompt("a/2", "", later)]) == {}
    )


def test_prompts_that_are_one_phrase_repeated_are_fatal():
    texts = [f"hello number {i} again " * 60 for i in range(8)]
    assert found(of(texts))["repeating-prompts"] is True


def test_distance_from_an_even_spread():
    assert distance_from_even(np.arange(1000), 999) < 0.01
    assert distance_from_even(np.zeros(100, dtype=int), 999) > 0.99
    assert distance_from_even(np.full(100, 999), 999) > 0.98
