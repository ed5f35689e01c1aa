"""Which conversations the target answers in: given ones, or of its own making."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transformers import AutoTokenizer

from trtspec.errors import UsageError
from trtspec.fit.answers import Answer
from trtspec.recipe.workload import Prompt
from trtspec.reference.chance import SeededChance
from trtspec.run.tokens import TextCodec

OWN_TURNS = "own_turns"
"""Source of conversations whose user turn the target wrote, too."""

_MARK = "\u2042user\u2042"


@dataclass(slots=True)
class Conversation:
    """A sequence that grows: first, if need be, by a user turn, then by an answer.

    :param id: unique among the conversations of a file.
    :param tokens: the sequence so far.
    :param begin: where what is being written begins.
    :param chance: its own, so that nothing depends on what is written beside it.
    :param after_turn: what follows a user turn of the target's own; empty otherwise.
    """

    id: str
    source: str
    temperature: float
    tokens: list[int]
    begin: int
    chance: SeededChance
    after_turn: tuple[int, ...] = ()

    @property
    def writes_turn(self) -> bool:
        """Whether the user turn is still being written."""
        return bool(self.after_turn)

    @property
    def heat(self) -> float:
        """Temperature of the next token; user turns are always varied."""
        return 1.0 if self.writes_turn else self.temperature

    @property
    def written(self) -> int:
        """Tokens of the turn or answer that is being written."""
        return len(self.tokens) - self.begin

    def end_turn(self) -> tuple[int, ...]:
        """Close the user turn; gives the tokens that the model has to read next."""
        following, self.after_turn = self.after_turn, ()
        self.tokens += following
        self.begin = len(self.tokens)
        return following

    def answer(self) -> Answer:
        """Give what was written."""
        span = (self.begin, len(self.tokens))
        return Answer(
            self.id, self.source, self.temperature, tuple(self.tokens), (span,)
        )


class ChatFrame:
    """What stands around a user turn in the target's chat template.

    :param before: tokens up to where the user speaks.
    :param after: tokens from where the user has ended to where the answer begins.
    """

    def __init__(self, directory: Path) -> None:
        """Take the target's template apart.

        :raises UsageError: if it has none, or changes what the user says.
        """
        tokenizer = AutoTokenizer.from_pretrained(
            directory, local_files_only=True, trust_remote_code=False
        )
        if not tokenizer.chat_template:
            raise _no_turns(directory, "the target has no chat template")
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": _MARK}],
            tokenize=False,
            add_generation_prompt=True,
        )
        if text.count(_MARK) != 1:
            raise _no_turns(directory, "the chat template changes what the user says")
        self.before, self.after = (
            tuple(tokenizer(part, add_special_tokens=False).input_ids)
            for part in text.split(_MARK)
        )


def conversations(
    directory: Path,
    prompts: Sequence[Prompt],
    own_turns: int,
    temperatures: Sequence[float],
    seed: int,
) -> Iterator[Conversation]:
    """Give all conversations to be written, in a fixed order.

    :param directory: the target's, for tokenizer and chat template.
    :param prompts: conversations that are given.
    :param own_turns: how many more the target is to begin itself, from its own chat
        prefix on.
    :param temperatures: of the answers, taken in turn.
    """
    codec = TextCodec(directory)
    for index, prompt in enumerate(prompts):
        tokens = list(codec.encode_chat(prompt.messages))
        heat = temperatures[index % len(temperatures)]
        name, source = f"prompt-{prompt.id}", prompt.category or "prompts"
        chance = SeededChance(seed, apart=name)
        yield Conversation(name, source, heat, tokens, len(tokens), chance)
    if own_turns:
        frame = ChatFrame(directory)
        for index in range(own_turns):
            heat = temperatures[index % len(temperatures)]
            begun, name = list(frame.before), f"own-{index}"
            chance = SeededChance(seed, apart=name)
            yield Conversation(
                name, OWN_TURNS, heat, begun, len(begun), chance, frame.after
            )


def _no_turns(directory: Path, what: str) -> UsageError:
    return UsageError(
        what,
        where=str(directory),
        action="leave out --own-turns, and give --prompts",
    )
