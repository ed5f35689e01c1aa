"""What followed the last n tokens of a text the last time they occurred in it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from trtspec.methods import Method, NGram


class NGramIndex:
    """Where each n-gram of one growing text last continued.

    :param longest: longest n-gram that is looked up.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._continuation: dict[tuple[int, ...], int] = {}
        self._indexed = 0

    def draft(self, tokens: Sequence[int], limit: int) -> list[int]:
        """Copy up to ``limit`` tokens from behind the latest earlier match.

        The longest n-gram that occurs earlier wins. A copy that reaches the end of
        the text goes on with what it has copied, so that a repetition is continued.
        """
        self._extend(tokens)
        for size in range(min(self._longest, len(tokens) - 1), 0, -1):
            start = self._continuation.get(tuple(tokens[-size:]))
            if start is not None:
                period = len(tokens) - start
                return [tokens[start + i % period] for i in range(limit)]
        return []

    def _extend(self, tokens: Sequence[int]) -> None:
        """Index the n-grams that end before the last token: those have a follower."""
        for end in range(max(self._indexed, 1), len(tokens)):
            for size in range(1, min(self._longest, end) + 1):
                self._continuation[tuple(tokens[end - size : end])] = end
        self._indexed = len(tokens)


class PromptLookup:
    """One index per text, for the texts of many requests.

    :param method: what holds for requests without parameters of their own.
    """

    def __init__(self, method: NGram) -> None:
        self._method = method
        self._indexes: dict[Hashable, NGramIndex] = {}

    def draft(
        self, key: Hashable, tokens: Sequence[int], limit: int, own: Method | None
    ) -> list[int]:
        """Propose up to ``limit`` tokens behind a text.

        :param key: says whose text it is; it only grows until it is forgotten.
        :param own: the request's own parameters of the method; None for the recipe's.
        """
        if limit <= 0:
            return []
        if key not in self._indexes:
            method = own if isinstance(own, NGram) else self._method
            self._indexes[key] = NGramIndex(method.max_matching_ngram)
        return self._indexes[key].draft(tokens, limit)

    def rename(self, old: Hashable, new: Hashable) -> None:
        """Know a text by another key from now on."""
        self.forget(new)
        if old in self._indexes:
            self._indexes[new] = self._indexes.pop(old)

    def forget(self, key: Hashable) -> None:
        """Forget a text."""
        self._indexes.pop(key, None)
