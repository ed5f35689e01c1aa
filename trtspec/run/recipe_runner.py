"""What the runners of all backends have in common: a recipe's limits, a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.recipe.schema import Recipe
from trtspec.run.runner import Message
from trtspec.run.tokens import TextCodec
from trtspec.run.types import Note


class RecipeRunner:
    """The part of ``trtspec.run.Runner`` that no engine is needed for."""

    def __init__(self, recipe: Recipe, codec: TextCodec) -> None:
        self._recipe = recipe
        self._codec = codec

    @property
    def codec(self) -> TextCodec:
        """The target model's tokenizer and chat template."""
        return self._codec

    @property
    def max_running(self) -> int:
        """Requests that run at once."""
        return self._recipe.limits.max_batch_size

    @property
    def max_input_tokens(self) -> int:
        """The longest prompt in tokens."""
        return self._recipe.limits.max_input_tokens

    @property
    def max_total_tokens(self) -> int:
        """Most tokens of prompt and output of a request."""
        return self._recipe.limits.max_total_tokens

    def notes(self) -> tuple[Note, ...]:
        """Nothing beyond what completions say."""
        return ()

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Tokenize raw text."""
        return self._codec.encode(prompt)

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation through the chat template."""
        return self._codec.encode_chat(messages)
