"""Texts are drawn where the reference is uncertain, spread over the prompts."""

from trtspec.verify.oracle.positions import choose_positions

PROMPTS = {f"p{i}": (i, 2, 3) for i in range(4)}
ANSWERS = dict.fromkeys(PROMPTS, (7, 8, 9, 10))


def uncertain_at(*places):
    return lambda prompt, output: [
        0.5 if place in places else 0.99 for place in range(len(output))
    ]


def chosen(sureness, longest=None, count=4, seed=0, answers=ANSWERS):
    return choose_positions(PROMPTS, answers, sureness, longest, count, seed)


def test_each_prompt_gives_one_before_any_gives_two():
    found = chosen(uncertain_at(0, 1, 2, 3))
    assert {one.prompt_id for one in found} == set(PROMPTS)
    more = chosen(uncertain_at(0, 1, 2, 3), count=6)
    assert len({one.id for one in more}) == 6


def test_a_text_is_the_prompt_and_the_answer_up_to_there():
    found = chosen(uncertain_at(2))
    assert all(one.after == 2 for one in found)
    assert found[0].text == (*PROMPTS[found[0].prompt_id], 7, 8)
    assert found[0].id == f"{found[0].prompt_id}+2"


def test_certain_places_are_left_out():
    assert chosen(uncertain_at()) == ()
    assert {one.after for one in chosen(uncertain_at(0, 3), count=8)} == {0, 3}


def test_texts_that_are_too_long_are_left_out():
    assert {one.after for one in chosen(uncertain_at(0, 3), 5, 8)} == {0}
    assert chosen(uncertain_at(0, 3), longest=2) == ()


def test_the_seed_decides_and_one_text_comes_once():
    even = uncertain_at(0, 1, 2, 3)
    assert chosen(even, seed=1) == chosen(even, seed=1)
    assert chosen(even, seed=1) != chosen(even, seed=2)
    same = dict.fromkeys(PROMPTS, (1, 2, 3))
    answers = dict.fromkeys(same, (7,))
    found = choose_positions(same, answers, uncertain_at(0), None, 8)
    assert len(found) == 1


def test_an_answer_of_one_token_leaves_the_prompt_itself():
    found = chosen(uncertain_at(0, 1), answers={n: a[:1] for n, a in ANSWERS.items()})
    assert {one.text for one in found} == set(PROMPTS.values())
