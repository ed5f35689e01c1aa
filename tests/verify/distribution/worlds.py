"""A world with a few tokens, exact or faulty, quick enough for thousands of tests.

The next token depends on the one before and on the prompt alone. At every place but the
first a draft token is offered, chosen without chance; what a rule of acceptance makes
of it is worked out exactly, so a fault is a table of its own, and one draw per token is
all that an answer takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from trtspec.verify.arm import Answer

VOCABULARY = 12
FAULTS = (
    "argmax despite temperature",
    "temperature ignored",
    "top-p ignored",
    "p(2-p) resampling",
    "typical acceptance",
    "forced acceptance",
    "fuzzy acceptance",
    "dropped penalty",
)
PENALTY = 1.0


@dataclass(frozen=True)
class World:
    """Logits of each prompt, [tokens before, tokens], and the drafter's choice."""

    seed: int = 0
    spread: float = 2.0
    agreement: float = 0.7

    def logits(self, prompt) -> np.ndarray:
        rng = np.random.default_rng([self.seed, *prompt])
        return rng.normal(0, self.spread, (VOCABULARY, VOCABULARY))

    def drafts(self, prompt) -> np.ndarray:
        """The draft token behind each token: mostly the likeliest."""
        rng = np.random.default_rng([self.seed, 1, *prompt])
        logits = self.logits(prompt)
        other = rng.normal(0, self.spread, logits.shape)
        return (self.agreement * logits + (1 - self.agreement) * other).argmax(-1)


def distribution(logits, temperature, top_p=1.0):
    """Probabilities of each row [..., tokens], as engines restrict them."""
    scaled = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    p = scaled / scaled.sum(-1, keepdims=True)
    order = np.argsort(-p, axis=-1)
    ordered = np.take_along_axis(p, order, -1)
    kept = np.empty_like(p)
    inside = np.cumsum(ordered, -1) - ordered < top_p
    np.put_along_axis(kept, order, np.where(inside, ordered, 0.0), -1)
    return kept / kept.sum(-1, keepdims=True)


def faulty(logits, drafts, sampling, fault=None):  # noqa: PLR0911
    """What really comes out behind each token, [tokens before, tokens]."""
    p = distribution(logits, sampling.temperature, sampling.top_p)
    rows, eye = np.arange(len(p)), np.eye(p.shape[1])
    offered = eye[drafts]
    chance = p[rows, drafts][:, None]
    if fault == "argmax despite temperature":
        return eye[logits.argmax(-1)]
    if fault == "temperature ignored":
        return distribution(logits, 1.0, sampling.top_p)
    if fault == "top-p ignored":
        return distribution(logits, sampling.temperature)
    if fault == "p(2-p) resampling":
        return chance * offered + (1 - chance) * p
    if fault == "typical acceptance":
        entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(-1, keepdims=True)
        typical = p > np.minimum(0.09, 0.3 * np.exp(-entropy))
        masked = p * typical / (p * typical).sum(-1, keepdims=True)
        return np.where(typical[rows, drafts][:, None], offered, masked)
    if fault == "forced acceptance":
        return offered
    if fault == "fuzzy acceptance":
        return np.where(chance >= 0.3 * p.max(-1, keepdims=True), offered, p)
    return p


def uniforms(seeds, count):
    """Numbers in [0, 1) from seeds, [seeds, count]: SplitMix64."""
    with np.errstate(over="ignore"):
        x = np.asarray(seeds, np.uint64)[:, None] * np.uint64(0x2545F4914F6CDD1D)
        x = x + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(float) / 2**53


@dataclass
class WorldArm:
    """An arm in a world.

    :param fault: one of ``FAULTS``; None speculates exactly.
    :param penalty: off the logits of tokens that the answer has already.
    :param says: ``tokens``, or ``text`` for an arm without token ids.
    :param greedy, seedless: ignores temperature and seed in every place.
    """

    world: World = World()
    name: str = "arm"
    fault: str | None = None
    penalty: float = 0.0
    says: str = "tokens"
    drafts: bool | None = True
    seedless: bool = False
    temperature_factor: float = 1.0
    asked: list = field(default_factory=list)

    def answer(self, questions, concurrency):
        self.asked += questions
        by_prompt: dict = {}
        for one in questions:
            by_prompt.setdefault((one.prompt, one.sampling.temperature), []).append(one)
        found = {}
        for group in by_prompt.values():
            for one, tokens in zip(group, self._tokens(group), strict=True):
                found[one.id] = self._answer(one, tuple(map(int, tokens)))
        return found

    def _tokens(self, group):
        first = group[0]
        sampling = replace(
            first.sampling,
            temperature=first.sampling.temperature * self.temperature_factor,
        )
        prompt = first.prompt
        if isinstance(prompt, str):
            prompt = tuple(prompt.encode())
        logits, drafts = self.world.logits(prompt), self.world.drafts(prompt)
        seeds = [0 if self.seedless else one.sampling.seed for one in group]
        chance = uniforms(seeds, first.max_tokens)
        tokens = np.zeros((len(group), first.max_tokens), int)
        used = np.zeros((len(group), VOCABULARY), bool)
        before = np.full(len(group), prompt[-1] % VOCABULARY)
        table = faulty(logits, drafts, sampling, self.fault)
        for place in range(first.max_tokens):
            if place == 0 and self.fault != "argmax despite temperature":
                rows = faulty(logits, drafts, sampling)[before]
            elif self.penalty:
                rows = logits[before] - self.penalty * used
                rows = faulty(rows, drafts[before], sampling, self.fault)
            else:
                rows = table[before]
            below = rows.cumsum(-1) / rows.sum(-1, keepdims=True)
            drawn = (below <= chance[:, place, None]).sum(-1)
            before = tokens[:, place] = np.minimum(drawn, VOCABULARY - 1)
            used[np.arange(len(group)), before] = True
        return tokens

    def _answer(self, question, tokens):
        drafted = None if self.drafts is None else 5 * bool(self.drafts)
        accepted = None if self.drafts is None else 3 * bool(self.drafts)
        text = " ".join(f"w{token}" for token in tokens)
        ids = tokens if self.says == "tokens" else None
        return Answer(question.id, ids, text, "length", drafted, accepted)


PROMPTS = {f"p{i}": (i, (5 * i + 2) % VOCABULARY) for i in range(8)}
