"""Where a backend has no maps of draft lengths, one is chosen for all loads."""

from __future__ import annotations

from dataclasses import replace

from tests.tune.deployed.test_setting import recipe
from tests.tune.made import candidate, costs, trace
from trtspec.errors import FindingsError
from trtspec.tune.decide import Evidence, Question, decide
from trtspec.tune.deployed.possible import possible_choices

# a step of 4 requests gets dear beyond 2 tokens, one of 1 never
EVIDENCE = Evidence(
    replace(candidate(4), original=recipe("pytorch")),
    [trace([4, 3, 2, 1, 0] * 8, prompt_id=name, limit=99) for name in "abc"],
    costs({1: [1.0] * 5, 4: [1.0, 1.0, 3.0, 4.0, 5.0]}),
)
QUESTION = Question((1, 4), (1, 4), 4)


class Shop:
    """Refuses what it is told to."""

    def __init__(self, refuses):
        self.refuses = refuses
        self.asked = []

    def require_possible(self, of):
        self.asked.append(of.speculation.draft_length)
        if self.refuses:
            raise FindingsError("this release has no schedule")


def test_a_map_that_can_be_had_stays():
    shop = Shop(False)
    (before,) = decide([EVIDENCE], QUESTION)
    assert isinstance(before.draft_length, dict), "else nothing is asked"
    (choice,), notes = possible_choices([before], {"ngram": shop})
    assert choice is before
    assert notes == ()
    assert shop.asked == [before.draft_length]


def test_else_one_length_is_chosen_and_it_is_said():
    (before,) = decide([EVIDENCE], QUESTION)
    (choice,), (note,) = possible_choices([before], {"ngram": Shop(True)})
    assert isinstance(choice.draft_length, int)
    assert set(choice.lengths.values()) == {choice.draft_length}
    assert "this release has no schedule" in note
    assert choice.with_lengths({1: 3, 4: 2}).draft_length == 3


def test_one_length_is_never_asked_about():
    (one,) = decide([EVIDENCE], Question((1,), (1,), 1))
    shop = Shop(True)
    (choice,), notes = possible_choices([one], {"ngram": shop})
    assert (choice, notes, shop.asked) == (one, (), [])
