"""A user's drafter drafts, and its mistakes are named before the target sees them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from tests.reference.drafters.greedy import PROMPTS, TOKENS, greedy_outputs, wanted
from tests.reference.toy_heads.setup import toy_setup
from trtspec.errors import RunError, UsageError
from trtspec.methods import User
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext, Observation
from trtspec.reference.drafters.user import UserDrafter, open_drafter
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import SamplingParams

GUIDE = Path(__file__).parents[3] / "docs" / "user-drafters.md"
VOCABULARY = 6


def context(limit=2, tokens=(1, 2)):
    return DraftContext(list(tokens), limit, SamplingParams(), SeededChance(0))


class Gives:
    """Returns what the test wants."""

    def __init__(self, value):
        self.value = value

    def propose(self, contexts):
        if isinstance(self.value, BaseException):
            raise self.value
        return self.value


def wrapped(drafter, nodes=3) -> UserDrafter:
    return UserDrafter(drafter, "mine:make", VOCABULARY, nodes)


def test_good_trees_pass_as_they_are():
    q = torch.full((VOCABULARY,), 1 / VOCABULARY, dtype=torch.float64)
    trees = [DraftTree((0, 5, 3), (-1, -1, 0), (None, q, q)), NO_DRAFT]
    drafter = wrapped(Gives(trees))
    assert drafter.propose([context(), context(0)]) == trees


CHAIN = DraftTree.chain
WRONG = {
    "nothing": (None, "propose gave None for 1 contexts", "one DraftTree per context"),
    "one tree": (CHAIN([1]), "gave a DraftTree for 1 contexts", "a list with one"),
    "too many": ([NO_DRAFT] * 2, "gave a list of 2 for 1 contexts", "a list with one"),
    "tokens": ([[1, 2]], "gave a list of 2", "a DraftTree"),
    "too deep": ([CHAIN([1, 2, 3])], "a tree 3 levels deep", "up to 2 "),
    "too many nodes": (
        [DraftTree((1, 2, 3, 4), (-1,) * 4)],
        "a tree of 4 tokens",
        r"up to 3 \(speculation.draft_length\)",
    ),
    "beyond the vocabulary": ([CHAIN([6])], "the token 6", "from 0 to 5"),
    "below zero": ([CHAIN([-1])], "the token -1", "from 0 to 5"),
    "no integer": ([CHAIN([1.0])], r"the token 1\.0", "integers from 0 to 5"),
    "no tensor": ([CHAIN([1], [[1.0]])], "a proposal is a list of 1", "a tensor"),
    "parents": ([DraftTree((1,), (-1.0,))], r"the parents \(-1\.0,\)", "places"),
    "complex": (
        [CHAIN([1], [torch.ones(VOCABULARY) + 0j])],
        "a proposal is of type torch.complex64",
        "real numbers",
    ),
    "wrong shape": (
        [CHAIN([1], [torch.ones(3)])],
        r"a proposal is a Tensor \[3\]",
        r"a tensor \[6\]",
    ),
    "not drawn from it": (
        [CHAIN([1], [torch.eye(VOCABULARY)[2]])],
        "the proposal of token 1 is no distribution",
        "above 0 for token 1",
    ),
    "no probabilities": (
        [CHAIN([1], [torch.ones(VOCABULARY)])],
        "the proposal of token 1 is no distribution",
        "add up to 1",
    ),
    "an error": (KeyError("x"), "propose failed: KeyError: 'x'", ""),
    "the end of the process": (SystemExit(3), "propose failed: SystemExit: 3", ""),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_draft_names_the_drafter_the_value_and_what_is_allowed(name):
    value, what, allowed = WRONG[name]
    pattern = rf"(?s)speculation\.drafter: mine:make: .*{what}.*{allowed}"
    with pytest.raises(RunError, match=pattern) as caught:
        wrapped(Gives(value)).propose([context()])
    assert "do: " in str(caught.value)


def test_an_error_keeps_its_own_traceback_for_debug():
    error = ZeroDivisionError("division by zero")
    with pytest.raises(RunError, match="--debug") as caught:
        wrapped(Gives(error)).propose([context()])
    assert caught.value.__cause__ is error


def test_an_interrupt_is_none_of_its_mistakes():
    with pytest.raises(KeyboardInterrupt):
        wrapped(Gives(KeyboardInterrupt())).propose([context()])


def test_what_the_drafter_does_not_have_is_not_called():
    drafter = wrapped(Gives([]))
    drafter.observe(0, Observation(None))
    drafter.move(1, 0)
    drafter.release(0)
    assert (drafter.reads, drafter.forward_seconds) == ((), 0.0)


def test_what_the_drafter_has_is_called():
    class Full(Gives):
        reads = (0, -1)
        forward_seconds = 1.5

        def observe(self, slot, observation):
            told.append((slot, observation))

        def move(self, source, target):
            told.append((source, target))

        def release(self, slot):
            raise ValueError("gone")

    told: list = []
    drafter = wrapped(Full([]))
    seen = Observation(None)
    drafter.observe(0, seen)
    drafter.move(1, 0)
    assert told == [(0, seen), (1, 0)]
    assert (drafter.reads, drafter.forward_seconds) == ((0, -1), 1.5)
    with pytest.raises(RunError, match="mine:make: release failed: ValueError: gone"):
        drafter.release(0)


SOURCE = """
class Good:
    def propose(self, contexts):
        return []

class Reads(Good):
    reads = (0, 7)

def text():
    return "no drafter"
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    (tmp_path / "written_drafters.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)


def opened(name):
    method = User(method="user", drafter=name, draft_length=3)
    return open_drafter(method, None, toy_setup())


@pytest.mark.usefixtures("written")
def test_the_recipe_names_a_class_or_a_function():
    assert opened("written_drafters:Good").propose([]) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:make", "ModuleNotFoundError: No module named"),
        ("written_drafters:text", "gave a str without a method propose"),
        ("written_drafters:Reads", r"reads \(0, 7\).*layers from 0 to 1"),
    ],
)
@pytest.mark.usefixtures("written")
def test_what_is_no_drafter_is_refused_when_it_is_opened(name, words):
    with pytest.raises(
        UsageError, match=rf"(?s)speculation\.drafter: {name} .*{words}"
    ):
        opened(name)


@pytest.fixture
def guide(tmp_path, monkeypatch):
    """The guide's example, saved as it says."""
    text = GUIDE.read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(# my_drafter\.py\n.*?)```", text, re.DOTALL)
    (tmp_path / "my_drafter.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return re.search(r"drafter: (\S+)\n", text)[1]


@pytest.mark.parametrize("slots", [1, 8])
def test_the_example_of_the_guide_drafts_and_keeps_greedy_output(guide, slots):
    def factory(target, slots):
        method = User(method="user", drafter=guide, draft_length=3)
        return open_drafter(method, None, toy_setup(target, slots)), method

    done = greedy_outputs(factory, slots)
    assert {name: one.tokens for name, one in done.items()} == wanted()
    assert len(done) == len(PROMPTS) == len(TOKENS)
    assert sum(one.accepted for one in done.values()) > 0


class Meddles:
    """Prints, and changes what it was given."""

    def propose(self, contexts):
        print("thinking")  # noqa: T201 - that is what is tested
        contexts[0].tokens.append(3)


def test_what_the_engine_goes_on_with_cannot_be_changed():
    with pytest.raises(RunError, match="propose failed: AttributeError"):
        wrapped(Meddles()).propose([context()])


def test_what_it_prints_stays_out_of_our_output(capsys):
    with pytest.raises(RunError):
        wrapped(Meddles()).propose([context()])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == "thinking\n"
