"""Whether the prompts are text that somebody would send, each of them once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trtspec.bench.cells import Doubt
from trtspec.bench.doubts.cycles import repeated_share
from trtspec.bench.doubts.random_ids import random_by_ids
from trtspec.bench.doubts.random_text import random_by_text
from trtspec.bench.driver import BenchPrompt

MANY_REPEATS = 0.10
"""Share of prompts that were there before: beyond, the intervals, which take prompts
as independent, are too narrow by a twentieth, and a KV cache answers for them."""

MANY_LOOPS = 0.2
"""Share of prompts that are one phrase repeated."""

MANY_RANDOM = 0.10
"""Share of prompts that are no text. A tenth can move a mean; where real text is taken
for random by mistake, it is single prompts."""

LOOP = 0.6
"""Share of a prompt's words that the repeated phrase covers."""

LONGEST_PHRASE = 16
"""Words."""

FEWEST_WORDS = 48
"""Of a prompt that is looked at for loops."""


def prompt_doubts(prompts: Sequence[BenchPrompt]) -> tuple[Doubt, ...]:
    """Look at the prompts of a run, before it.

    Random tokens are predicted unlike text: acceptance on them says nothing, and
    throughput comes out about 23 % too high (SPEED-Bench, arXiv 2604.09557).
    """
    looks = (_repeated, _loops, _random)
    return tuple(doubt for look in looks for doubt in look(prompts))


def _repeated(prompts: Sequence[BenchPrompt]) -> Iterator[Doubt]:
    counts = Counter(
        tuple((m["role"], _plain(m["content"])) for m in p.messages) for p in prompts
    )
    again = len(prompts) - len(counts)
    if not again:
        return
    most = max(counts.values())
    fatal = again > MANY_REPEATS * len(prompts)
    end = (
        ": a cache serves them again, and they count as independent prompts without "
        "being so"
        if fatal
        else ""
    )
    yield Doubt(
        id="repeated-prompts",
        what=f"{again} of {len(prompts)} prompts were there before, one of them {most} "
        f"times in all{end}",
        fatal=fatal,
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _loops(prompts: Sequence[BenchPrompt]) -> Iterator[Doubt]:
    looping = sum(_is_loop(last_message(prompt)) for prompt in prompts)
    if looping > MANY_LOOPS * len(prompts):
        yield Doubt(
            id="repeating-prompts",
            what=f"{looping} of {len(prompts)} prompts are mostly one phrase repeated: "
            "every drafter predicts such text",
            fatal=True,
        )


def _is_loop(text: str) -> bool:
    words = text.split()
    if len(words) < FEWEST_WORDS:
        return False
    numbers: dict[str, int] = {}
    numbered = [numbers.setdefault(word, len(numbers)) for word in words]
    return repeated_share(numbered, LONGEST_PHRASE) >= LOOP


def _random(prompts: Sequence[BenchPrompt]) -> Iterator[Doubt]:
    by_ids = random_by_ids([p.tokens for p in prompts if p.tokens is not None])
    by_text = random_by_text([last_message(p) for p in prompts])
    found = max(by_ids, by_text, key=lambda f: f.count)
    if found.count > MANY_RANDOM * len(prompts):
        yield Doubt(
            id="random-prompts",
            what=f"{found.count} of {len(prompts)} prompts look like random tokens "
            f"({found.seen}): acceptance on them says nothing about real requests",
            fatal=True,
        )


def last_message(prompt: BenchPrompt) -> str:
    """Give what was said last; earlier turns are prompts of their own."""
    return prompt.messages[-1]["content"]
