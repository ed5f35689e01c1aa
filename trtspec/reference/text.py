"""From emitted tokens to text: streamed, cut exactly at a stop string."""

from __future__ import annotations

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream


class TextStream:
    """Decodes one request's tokens as they come.

    Text that could be the beginning of a stop string, or bytes that are not yet a
    whole character, are held back until that is settled.
    """

    def __init__(self, tokenizer: Tokenizer, stop: tuple[str, ...]) -> None:
        self._tokenizer = tokenizer
        self._decoder = DecodeStream(skip_special_tokens=True)
        self._stop = stop
        self._longest_stop = max(map(len, stop), default=0)
        self._tokens: list[int] = []
        self._sent = 0
        self.text = ""
        self.stopped = False

    def add(self, token: int) -> bool:
        """Decode one more token; True if it completes a stop string."""
        self._tokens.append(token)
        unsearched = max(0, len(self.text) - self._longest_stop + 1)
        self.text += self._decoder.step(self._tokenizer, token) or ""
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
            whole = self._tokenizer.decode(self._tokens, skip_special_tokens=True)
            if whole.startswith(self.text):
                self.text = whole
        released, self._sent = self.text[self._sent :], len(self.text)
        return released
