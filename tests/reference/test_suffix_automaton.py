"""The automaton finds what a search of the whole text finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trtspec.reference.suffix_automaton import Matcher, SuffixAutomaton, SuffixText


def texts(max_size=30):
    return st.lists(st.integers(0, 2), max_size=max_size)


def first_followed(text, end, most):
    """Longest suffix of ``end`` that occurs in ``text`` before its last token."""
    for size in range(min(most or len(end), len(end)), 0, -1):
        for start in range(len(text) - size):
            if text[start : start + size] == end[-size:]:
                return size, start + size
    return 0, 0


@given(texts(), st.sampled_from([None, 1, 2, 4]))
def test_the_end_of_a_text_is_found_earlier_in_it(tokens, most):
    text = SuffixText(most)
    for end in range(1, len(tokens) + 1):
        seen = tokens[:end]
        text.grow(seen)
        longest = min(most or end, end - 1)
        assert text.match() == first_followed(seen, seen, longest)


@given(texts(), texts(), st.sampled_from([None, 1, 3]))
def test_the_end_of_one_text_is_found_in_another(tokens, other, most):
    automaton = SuffixAutomaton()
    for token in other:
        automaton.extend(token)
    matcher = Matcher(automaton, most)
    for end in range(1, len(tokens) + 1):
        matcher.read(tokens[end - 1 : end])
        assert matcher.match() == first_followed(other, tokens[:end], most)


@given(texts(12), st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=30))
def test_a_match_stays_right_while_the_other_text_grows(other, events):
    """States split under the matcher; what it holds is still where it says."""
    automaton = SuffixAutomaton()
    for token in other:
        automaton.extend(token)
    matcher = Matcher(automaton, None)
    read: list[int] = []
    for grows, token in events:
        if grows:
            automaton.extend(token)
        else:
            matcher.read((token,))
            read.append(token)
        size, behind = matcher.match()
        text = automaton.tokens
        assert text[behind - size : behind] == read[len(read) - size :]
        assert size <= first_followed(text, read, None)[0]
        if size:
            assert first_followed(text, read, size) == (size, behind)


@given(texts(60))
def test_memory_is_linear_in_the_text(tokens):
    automaton = SuffixAutomaton()
    for token in tokens:
        automaton.extend(token)
    assert len(automaton.longest) <= max(2 * len(tokens), 1)
    assert sum(map(len, automaton.next)) <= 3 * len(tokens)


def test_work_is_linear_in_a_text_that_repeats_itself():
    """A cap on the match must not make every token walk over all suffixes."""

    class Counting(list):
        reads = 0

        def __getitem__(self, index):
            Counting.reads += 1
            return super().__getitem__(index)

    text = SuffixText(most=3)
    text.automaton.link = Counting(text.automaton.link)
    text.grow([5] * 2000)
    assert text.match() == (3, 3)
    assert Counting.reads < 12 * 2000
