"""How text becomes token ids, and which ids end the output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from tokenizers import Tokenizer

from trtspec.errors import RunError, UsageError
from trtspec.run.pieces import TokenPieces
from trtspec.run.runner import Message
from trtspec.run.text import TextStream

_TEMPLATE_FAILURES = (
    *(TemplateError, ArithmeticError, AttributeError),
    *(LookupError, TypeError, ValueError),
)
"""What a template can raise: its own refusals, and whatever its expressions do."""


class TextCodec:
    """The target model's tokenizer and chat template, read from an artifact."""

    def __init__(self, directory: Path, chat_template: str | None = None) -> None:
        """Load the tokenizer.

        :param chat_template: Jinja text in place of the model's own template.

        :raises RunError: if the directory holds no fast tokenizer.
        """
        self._directory = directory
        self._chat_template = chat_template
        path = directory / "tokenizer.json"
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            # fine-tuned checkpoints often carry those of their training
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
        except Exception as error:  # tokenizers raises bare Exception
            raise RunError(
                f"cannot be read as a tokenizer: {error}",
                where=str(path),
                action="build the artifact again",
            ) from error
        self._full: Any = None
        self._vocabulary: int | None = None
        self._pieces: TokenPieces | None = None
        self.end_tokens = _end_tokens(directory, self._tokenizer)

    def encode(self, text: str) -> tuple[int, ...]:
        """Tokenize raw text, with the special tokens the tokenizer adds."""
        return tuple(self._tokenizer.encode(text).ids)

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation, up to where the assistant answers.

        :raises UsageError: if the model has no chat template.
        """
        return self._ids(self._chat(messages, answers_next=True))

    def encode_exchange(
        self, messages: Sequence[Message], answer: str
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Tokenize a conversation as ``encode_chat`` does, and the answer to it.

        :returns: the answer's tokens with all that the chat template writes behind it.
        :raises UsageError: if the model has no chat template, or one that changes what
            stands before an answer.
        """
        before = self._chat(messages, answers_next=True)
        said = {"role": "assistant", "content": answer}
        whole = self._chat([*messages, said], answers_next=False)
        if not whole.startswith(before):
            raise UsageError(
                "the model's chat template changes the conversation before an answer",
                where=str(self._directory),
                action="use texts without it, or let the model write answers itself",
            )
        return self._ids(before), self._ids(whole.removeprefix(before))

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _chat(self, messages: Sequence[Message], *, answers_next: bool) -> str:
        if self._full is None:
            from transformers import AutoTokenizer

            self._full = AutoTokenizer.from_pretrained(
                self._directory, local_files_only=True, trust_remote_code=False
            )
        if not (self._chat_template or self._full.chat_template):
            raise UsageError(
                "the model has no chat template",
                where=str(self._directory),
                action="name one as target.chat_template in the recipe, or use "
                "`trtspec run --raw`, which sends the prompt as it is",
            )
        try:
            text: str = self._full.apply_chat_template(
                [dict(m) for m in messages],
                chat_template=self._chat_template,
                tokenize=False,
                add_generation_prompt=answers_next,
            )
        except _TEMPLATE_FAILURES as error:
            raise self._template_failure(error) from error
        return text

    def _template_failure(self, error: Exception) -> UsageError:
        if self._chat_template is None:
            return UsageError(
                f"the model's chat template refuses the conversation: {error}",
                where=str(self._directory),
                action="change the conversation, or use --raw to send text as it is",
            )
        return UsageError(
            f"the recipe's chat template fails: {type(error).__name__}: {error}",
            where="target.chat_template",
            action="correct that file, and build again",
        )

    @property
    def vocabulary(self) -> int:
        """One more than the largest token id that the tokenizer knows."""
        if self._vocabulary is None:
            known = self._tokenizer.get_vocab(with_added_tokens=True)
            self._vocabulary = max(known.values(), default=-1) + 1
        return self._vocabulary

    @property
    def pieces(self) -> TokenPieces:
        """The texts and bytes of single tokens."""
        if self._pieces is None:
            self._pieces = TokenPieces(self._tokenizer)
        return self._pieces

    def stream(self, stop: tuple[str, ...]) -> TextStream:
        """Begin decoding one output."""
        return TextStream(self._tokenizer, stop)


def _end_tokens(directory: Path, tokenizer: Tokenizer) -> frozenset[int]:
    """Unite what generation config, model config and tokenizer call the end."""
    ids: set[int | None] = set()
    for name in ("generation_config.json", "config.json"):
        config = _json(directory / name)
        for section in (config, config.get("text_config") or {}):
            found = section.get("eos_token_id")
            ids.update(found if isinstance(found, list) else [found])
    token = _json(directory / "tokenizer_config.json").get("eos_token")
    token = token.get("content") if isinstance(token, dict) else token
    ids.add(tokenizer.token_to_id(token) if token else None)
    return frozenset(i for i in ids if i is not None)


def _json(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    return content
