"""Engines around toy models, and requests for them."""

from __future__ import annotations

import functools
from dataclasses import replace

import tokenizers

from tests.reference.toys import full_logits, toy_slots
from trtspec.methods import DraftTarget, NGram, NoSpeculation
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.drafters.ngram import NGramDrafter
from trtspec.reference.engine import Engine
from trtspec.reference.running import Running
from trtspec.run import Completion, Request, SamplingParams, StepRecord
from trtspec.run.text import TextStream


def word_tokenizer(size: int = 48) -> tokenizers.Tokenizer:
    """Tokenizer whose token i is the word ``w<i>``."""
    vocabulary = {f"w{i}": i for i in range(size)}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="w0")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = tokenizers.decoders.WordPiece(prefix="##", cleanup=False)
    return tokenizer


TOKENIZER = word_tokenizer()


def toy_engine(method="none", draft_length=4, slots=4, **options) -> Engine:
    """Engine with a toy target; ``draft_target`` drafts with another toy."""
    vocabulary = options.pop("vocabulary", 48)
    draft_seed = options.pop("draft_seed", 0)
    target = toy_slots(slots=slots, vocabulary=vocabulary, **options)
    if method == "none":
        return Engine(target, None, NoSpeculation(method="none"))
    if method == "ngram":
        ngram = NGram(method="ngram", draft_length=draft_length, max_matching_ngram=2)
        return Engine(target, NGramDrafter(ngram), ngram)
    draft = toy_slots(seed=draft_seed, slots=slots, vocabulary=vocabulary)
    chosen = DraftTarget(
        method="draft_target", model="./draft", draft_length=draft_length
    )
    return Engine(target, DraftModelDrafter(draft, vocabulary), chosen)


def request(name="r", prompt=(3, 9, 4), tokens=12, **options) -> Request:
    """A greedy request that only its length ends, unless told otherwise."""
    options = {"ignore_eos": True, **options}
    return Request(name, tuple(prompt), tokens, **options)


def sampled(seed: int, **sampling) -> SamplingParams:
    """Sampling at temperature 1 with this seed."""
    return replace(SamplingParams(temperature=1.0, seed=seed), **sampling)


def submit(engine: Engine, asked: Request, end_tokens=frozenset({1})) -> None:
    """Queue a request as the runner does."""
    stream = TextStream(TOKENIZER, asked.stop)
    apart = engine.method.follows_batch
    running = Running(asked, stream, end_tokens, 0.0, apart=apart)
    engine.queue.submit(running)


def finish(engine: Engine) -> tuple[dict[str, Completion], list[StepRecord]]:
    """Run until nothing is left."""
    completions, records = {}, []
    while engine.queue:
        result = engine.advance()
        records += result.records
        for chunk in result.chunks:
            if chunk.completion:
                completions[chunk.request_id] = chunk.completion
    return completions, records


def generate(engine: Engine, *asked: Request) -> dict[str, Completion]:
    """Run requests together from the start."""
    for one in asked:
        submit(engine, one)
    return finish(engine)[0]


def plain_greedy(prompt, tokens: int) -> list[int]:
    """Greedy decoding by whole forwards, without cache or engine."""
    text = tuple(prompt)
    for _ in range(tokens):
        text += (_likeliest(text),)
    return list(text[len(prompt) :])


@functools.cache
def _likeliest(text: tuple[int, ...]) -> int:
    return int(full_logits(text)[-1].argmax())
