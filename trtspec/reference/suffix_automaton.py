"""Where a suffix of one text occurred before, in that text or in another.

The automaton of a text has one state per set of substrings that end at the same places;
it is built token by token in linear memory and amortised constant time (Blumer et al.,
1985). Used for drafting in SAM Decoding (arXiv 2411.10666) and, as suffix trees, in
SuffixDecoding (arXiv 2411.04975).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ROOT = 0


class SuffixAutomaton:
    """All substrings of a growing text, and where each of them occurred first."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.longest = [0]
        """Per state: length of its longest substring."""
        self.link = [-1]
        """Per state: the state of the longest suffix that it does not hold itself."""
        self.next: list[dict[int, int]] = [{}]
        """Per state: where each further token leads."""
        self.first_end = [-1]
        """Per state: position of the last token of the first occurrence."""
        self._last = ROOT

    def extend(self, token: int) -> None:
        """Append one token to the text."""
        self.tokens.append(token)
        new = self._add(self.longest[self._last] + 1, {}, len(self.tokens) - 1)
        state = self._last
        while state >= 0 and token not in self.next[state]:
            self.next[state][token] = new
            state = self.link[state]
        self.link[new] = self._suffix(state, token) if state >= 0 else ROOT
        self._last = new

    def _add(self, longest: int, following: dict[int, int], first_end: int) -> int:
        self.longest.append(longest)
        self.link.append(ROOT)
        self.next.append(following)
        self.first_end.append(first_end)
        return len(self.longest) - 1

    def _suffix(self, state: int, token: int) -> int:
        """Give the state of just the longest substring of ``state``, and ``token``."""
        reached = self.next[state][token]
        size = self.longest[state] + 1
        if self.longest[reached] == size:
            return reached
        # shorter substrings end at more places from now on: a state of their own
        clone = self._add(size, dict(self.next[reached]), self.first_end[reached])
        self.link[clone] = self.link[reached]
        self.link[reached] = clone
        while state >= 0 and self.next[state].get(token) == reached:
            self.next[state][token] = clone
            state = self.link[state]
        return clone


class Matcher:
    """The longest suffix of the tokens read so far that occurs in a text.

    Amortised constant time per token, while the text itself grows as well.

    :param text: where to look.
    :param most: most tokens of a match; None for any number.
    """

    def __init__(self, text: SuffixAutomaton, most: int | None) -> None:
        self._text, self._most = text, most
        self._state, self._size = ROOT, 0

    def read(self, tokens: Iterable[int]) -> None:
        """Go on by tokens of the other text."""
        for token in tokens:
            self._settle()
            self._read(token)

    def _read(self, token: int) -> None:
        text, state = self._text, self._state
        while state != ROOT and token not in text.next[state]:
            state = text.link[state]
            self._size = text.longest[state]
        if token in text.next[state]:
            state = text.next[state][token]
            self._size += 1
        if self._most is not None:
            self._size = min(self._size, self._most)
        self._state = state

    def _settle(self) -> None:
        """Find the state that holds the match now: states split as a text grows."""
        text = self._text
        while (
            self._state != ROOT and self._size <= text.longest[text.link[self._state]]
        ):
            self._state = text.link[self._state]

    def match(self) -> tuple[int, int]:
        """Give the length of the longest match that something follows, and where.

        Of several occurrences the first one counts, as in TensorRT-LLM (``lookup`` in
        cpp/tensorrt_llm/kernels/speculativeDecoding/suffixAutomaton).

        :returns: (0, 0) if there is none.
        """
        self._settle()
        text, state, size = self._text, self._state, self._size
        while state != ROOT and text.first_end[state] + 1 >= len(text.tokens):
            state = text.link[state]
            size = text.longest[state]
        return (size, text.first_end[state] + 1) if state != ROOT else (0, 0)


class SuffixText:
    """A growing text that looks for its own end earlier in itself.

    :param most: most tokens of a match; None for any number.
    """

    def __init__(self, most: int | None) -> None:
        self.automaton = SuffixAutomaton()
        self._matcher = Matcher(self.automaton, most)

    def grow(self, tokens: Sequence[int]) -> None:
        """Take over what ``tokens``, the whole text, has more than before."""
        for token in tokens[len(self.automaton.tokens) :]:
            self._matcher.read((token,))  # before it is there: a match ends earlier
            self.automaton.extend(token)

    def match(self) -> tuple[int, int]:
        """Length of the longest suffix that occurred earlier, and what followed it."""
        return self._matcher.match()
