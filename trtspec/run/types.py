"""What every backend is asked for and what it answers: requests, chunks, records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from trtspec.methods import Method

FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen from the target model's distribution.

    :param temperature: 0 means greedy; otherwise logits are divided by it.
    :param top_k: keep the k most likely tokens; 0 keeps all.
    :param top_p: keep the smallest set of tokens with at least this mass; 1 keeps all.
    :param seed: seed of this request's own random stream.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    @property
    def greedy(self) -> bool:
        """Whether decoding takes the most likely token."""
        return self.temperature == 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """One generation request in tokens.

    :param prompt: prompt token ids.
    :param max_new_tokens: upper limit of emitted tokens.
    :param stop: strings that end the output; the text is cut before them.
    :param ignore_eos: go on past the end-of-sequence token (fixed output lengths).
    :param speculate: False decodes without drafting: the off arm.
    :param speculation: this request's own parameters of the recipe's method, within
        what the artifact was built for; None for the recipe's.
    :param controls: further sampling controls, by their names in TensorRT-LLM's
        ``SamplingParams``; only its backend pytorch has them.
    :param logprobs: give each token's log-probability, beside those of so many of the
        likeliest tokens; None gives none. Only backend reference has them.
    """

    id: str
    prompt: tuple[int, ...]
    max_new_tokens: int
    sampling: SamplingParams = SamplingParams()
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False
    speculate: bool = True
    speculation: Method | None = None
    controls: Mapping[str, object] = field(default_factory=dict, hash=False)
    logprobs: int | None = None


class TokenLogprob(NamedTuple):
    """What the target model said of one token of an output.

    Natural logarithms of its softmax, before temperature, top-k and top-p.

    :ivar top: the likeliest tokens as (id, log-probability), the likeliest first.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]


class DraftStep(NamedTuple):
    """What one verification step did for one request.

    :ivar drafted: draft tokens offered, those of all branches.
    :ivar depth: longest path offered; for a chain the same as ``drafted``.
    :ivar accepted: draft tokens that became output.
    """

    drafted: int
    depth: int
    accepted: int


@dataclass(slots=True)
class Completion:
    """One finished request with its timings and its acceptance counts.

    Times are seconds on the clock of ``time.perf_counter``; a request has ``joined``
    when it got a place and waits no more (0 if it never did). ``drafted`` and
    ``accepted`` count draft tokens really proposed, and those of them that became
    output. ``steps`` counts verification steps (the prefill is none); ``draft_steps``
    has each of them, and is None where an engine tells their sums only. ``lossy`` says
    why the output need not be the target model's own; empty if it is.
    """

    request_id: str
    prompt_tokens: int
    tokens: list[int] = field(default_factory=list)
    text: str = ""
    finish_reason: FinishReason = "length"
    submitted_at: float = 0.0
    joined_at: float = 0.0
    first_token_at: float = 0.0
    last_token_at: float = 0.0
    steps: int = 0
    drafted: int = 0
    accepted: int = 0
    draft_steps: list[DraftStep] | None = None
    lossy: str = ""

    @property
    def ttft(self) -> float | None:
        """Time to first token in seconds; None if nothing was emitted."""
        return self.first_token_at - self.submitted_at if self.tokens else None

    @property
    def tpot(self) -> float | None:
        """(last token time - first token time) / (tokens - 1); None below 2 tokens."""
        if len(self.tokens) < 2:
            return None
        return (self.last_token_at - self.first_token_at) / (len(self.tokens) - 1)

    @property
    def e2e(self) -> float | None:
        """Seconds from submission to the last token; None if nothing was emitted."""
        return self.last_token_at - self.submitted_at if self.tokens else None

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted tokens; None if nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def acceptance_length(self) -> float | None:
        """Tokens per verification step, bonus included: 1 + accepted / steps.

        The last step counts as whole even if the end of the output cut it.
        """
        return 1 + self.accepted / self.steps if self.steps else None


@dataclass(frozen=True, slots=True)
class Chunk:
    """Newly emitted output of one request.

    :param tokens: token ids emitted in this step.
    :param text: text that became final with them (may be empty, or lag the tokens).
    :param time: ``time.perf_counter`` seconds at which they were there.
    :param completion: set on the request's last chunk.
    :param logprobs: one for each token, if the request asked for them.
    """

    request_id: str
    tokens: tuple[int, ...]
    text: str
    time: float
    completion: Completion | None = None
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """What an engine itself says of all the work it did.

    :param text: one line.
    :param record: the same for machines; its key says what it is about.
    """

    text: str
    record: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True, slots=True)
class StepRecord:
    """Where the time of one engine step went; all times in seconds.

    ``draft_seconds`` is everything spent proposing (the drafter's forwards and its own
    prefill included), ``forward_seconds`` the target model's forward,
    ``draft_forward_seconds`` the part of drafting inside a draft model's forward.
    """

    kind: Literal["prefill", "decode"]
    running: int
    draft_length: int
    drafted: int
    accepted: int
    emitted: int
    seconds: float
    draft_seconds: float
    draft_forward_seconds: float
    forward_seconds: float


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one call of ``Runner.advance`` brought."""

    chunks: tuple[Chunk, ...] = ()
    records: tuple[StepRecord, ...] = ()
