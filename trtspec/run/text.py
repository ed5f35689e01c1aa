"""From emitted tokens to text: streamed, cut exactly at a stop string."""

from __future__ import annotations

from tokenizers import Tokenizer

_INCOMPLETE = "\ufffd"


class TextStream:
    """Decodes one request's tokens as they come.

    Bytes that are not yet a whole character are held back until they are, and with
    stop strings so are as many characters as the longest of them could still claim.
    """

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...]) -> None:
        self._tokenizer = tokenizer
        self._stop = stop
        self._longest_stop = max(map(len, stop), default=0)
        self._tokens: list[int] = []
        # text of the tokens before _read is final; those from _prefix on are decoded
        # again with what follows, because how a token reads depends on the one before
        self._prefix = 0
        self._read = 0
        self._sent = 0
        self.text = ""
        self.stopped = False

    def add(self, token: int) -> bool:
        """Decode one more token; True if it completes a stop string."""
        self._tokens.append(token)
        unsearched = max(0, len(self.text) - self._longest_stop + 1)
        self.text += self._newly_final()
        found = [self.text.find(stop, unsearched) for stop in self._stop]
        if cuts := [position for position in found if position >= 0]:
            self.text = self.text[: min(cuts)]
            self.stopped = True
        return self.stopped

    def release(self) -> str:
        """Give the text that is final by now and was not given before."""
        held = 0 if self.stopped else max(0, self._longest_stop - 1)
        end = max(self._sent, len(self.text) - held)
        released, self._sent = self.text[self._sent : end], end
        return released

    def finish(self) -> str:
        """Give all that is left, an incomplete character shown as U+FFFD."""
        if not self.stopped:
            known, everything = self._decoded_tail()
            self.text += everything[len(known) :]
        released, self._sent = self.text[self._sent :], len(self.text)
        return released

    def _newly_final(self) -> str:
        known, everything = self._decoded_tail()
        if len(everything) <= len(known) or everything.endswith(_INCOMPLETE):
            return ""
        self._prefix, self._read = self._read, len(self._tokens)
        return everything[len(known) :]

    def _decoded_tail(self) -> tuple[str, str]:
        """Text from ``_prefix`` on: of the final tokens, and of all tokens."""
        tail = self._tokens[self._prefix :]
        known = tail[: self._read - self._prefix]
        return self._decode(known), self._decode(tail)

    def _decode(self, tokens: list[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text
