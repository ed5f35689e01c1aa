"""How the target comes to the reference engine, to judge what others answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtspec.run import SamplingParams
from trtspec.verify.arm import Question
from trtspec.verify.oracle.symbols import Symbols, symbols_by_id

if TYPE_CHECKING:
    from trtspec.reference.runner import ReferenceRunner
    from trtspec.run.tokens import TextCodec

Ids = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """What judges tokens one by one: the target on the reference engine.

    :param score: see ``trtspec.verify.oracle.greedy``.
    :param words: what it is.
    :param said: log-probabilities at each place of an output.
    :param after: makes, of a request's sampling and how far rounding moves a logit,
        what gives the distributions after a text and paths behind it.
    :param symbols: tells tokens apart by id.
    :param by_text: the same by text, made when it is needed.
    :param ids: token ids of a question's prompt.
    """

    score: Callable[[Sequence[int], Sequence[int]], Iterable[Any]]
    words: str
    said: Callable[[Ids, Ids], Any]
    after: Callable[[SamplingParams, float], Callable[[Ids, Sequence[Ids]], Any]]
    symbols: Symbols
    by_text: Callable[[], Symbols]
    ids: Callable[[Question], Ids]


def own_model(runner: ReferenceRunner, directory: Path, dtype: str) -> Judged:
    """Judge by the very model that a runner of ours has loaded.

    :param directory: the artifact's target.
    """
    words = f"plain forwards of the target, {dtype}, no slots, no drafts"
    return _judged(runner.target_model, directory, words)


def other_model(directory: Path, dtype: str, device: str) -> Judged:
    """Judge by a checkpoint.

    :raises RunError: if it cannot be loaded.
    """
    from trtspec.reference.hf import load_causal_lm

    model = load_causal_lm(directory, dtype, device)
    return _judged(
        model, directory, f"plain forwards of {directory}, {dtype}, on {device}"
    )


def _judged(model: Any, directory: Path, words: str) -> Judged:
    from trtspec.reference.next_tokens import next_tokens, said_of
    from trtspec.reference.scoring import shortfalls
    from trtspec.run.tokens import TextCodec
    from trtspec.verify.oracle.pieces import symbols_in

    codec = TextCodec(directory)
    vocabulary = int(model.config.get_text_config().vocab_size)

    def after(
        sampling: SamplingParams, wobble: float
    ) -> Callable[[Ids, Sequence[Ids]], Any]:
        return lambda text, paths: next_tokens(model, text, paths, sampling, wobble)

    return Judged(
        score=partial(shortfalls, model),
        words=words,
        said=partial(said_of, model),
        after=after,
        symbols=symbols_by_id(vocabulary, codec.end_tokens),
        by_text=partial(symbols_in, directory, vocabulary, codec.end_tokens),
        ids=partial(ids_of, codec),
    )


def ids_of(codec: TextCodec, question: Question) -> Ids:
    """Give a question's prompt as the target sees it."""
    if question.messages:
        return codec.encode_chat(question.messages)
    if isinstance(question.prompt, str):
        return codec.encode_chat([{"role": "user", "content": question.prompt}])
    return question.prompt
