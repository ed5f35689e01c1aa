"""What a request is while an engine runs it, and how the executor is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.run.running import Running
from trtspec.run.text import TextStream
from trtspec.run.types import Chunk, FinishReason, Request, SamplingParams
from trtspec.trtllm.engine.run.admission import is_greedy
from trtspec.trtllm.engine.run.bindings import Bindings

GREEDY = SamplingParams()
PLAIN_SAMPLING = SamplingParams(temperature=1.0)
"""The whole distribution, as it is: what q is when drafts come with their logits."""


class EngineRequest(Running):
    """A running request; see ``trtspec.run.running``.

    :param lossy: why its output need not be the target's own; empty if it is.
    :param in_rounds: whether it is decoded in rounds, with drafts from outside.
    """

    def __init__(
        self,
        request: Request,
        stream: TextStream,
        end_tokens: frozenset[int],
        submitted_at: float,
        *,
        lossy: str = "",
        in_rounds: bool = False,
    ) -> None:
        super().__init__(request, stream, end_tokens, submitted_at)
        self.completion.lossy = lossy
        self.in_rounds = in_rounds
        self.where = f"request {request.id}"

    @property
    def is_greedy(self) -> bool:
        """Whether an engine decodes it greedily."""
        return is_greedy(self.request.sampling)

    def end(self, reason: FinishReason, now: float) -> Chunk:
        """End the request because the engine did."""
        self._finish = reason
        return self._chunk((), now)

    def seed(self, role: str) -> int:
        """Give a seed for what is drawn next: the same for the same request.

        Target and drafter must draw independently, and no two steps alike.
        """
        place = f"{self.request.sampling.seed} {len(self.completion.tokens)} {role}"
        return (
            int.from_bytes(blake2b(place.encode(), digest_size=8).digest(), "big") >> 1
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """What is proposed for one request.

    :param tokens: a chain; empty for no proposal.
    :param logits: [tokens, vocabulary] that they were sampled from, or None.
    """

    tokens: tuple[int, ...] = ()
    logits: Any = None


NO_DRAFT = Draft()


@dataclass(frozen=True, slots=True)
class RequestMaker:
    """Says requests in the executor's words.

    :param end_tokens: ids that end an output, unless a request ignores them.
    """

    bindings: Bindings
    end_tokens: Sequence[int]

    @property
    def version(self) -> Version:
        """The version of TensorRT-LLM."""
        return self.bindings.version

    @property
    def end_id(self) -> int | None:
        """The end token that the runtime is told by itself; None if there is none."""
        return self.end_tokens[0] if self.end_tokens else None

    def make(
        self,
        asked: Request,
        tokens: Sequence[int],
        max_tokens: int,
        sampling: SamplingParams,
        *,
        streaming: bool = False,
        ends: bool = True,
        draft: Draft = NO_DRAFT,
        lookahead: Sequence[int] | None = None,
        output: Sequence[str] = (),
    ) -> Any:
        """Ask for up to ``max_tokens`` new tokens behind ``tokens``.

        :param asked: whose tokens they are.
        :param sampling: how tokens are chosen, and the seed.
        :param ends: whether the request's end tokens end this one.
        :param draft: tokens to verify.
        :param lookahead: window, n-gram and verification set size.
        :param output: what else is to come with them, by its name in OutputConfig.
        :raises RunError: naming the request, if the bindings do not take it.
        """
        try:
            return self.bindings.make(
                "Request",
                input_token_ids=list(tokens),
                max_tokens=max_tokens,
                streaming=streaming,
                sampling_config=self._sampling(sampling),
                output_config=self.bindings.make(
                    "OutputConfig",
                    exclude_input_from_output=True,
                    **dict.fromkeys(output, True),
                ),
                **(self._ends(asked) if ends else {}),
                **self._draft(draft),
                **self._lookahead(lookahead),
            )
        except RunError as error:
            raise RunError.from_problems(
                replace(
                    p, where=", ".join(filter(None, (f"request {asked.id}", p.where)))
                )
                for p in error.problems
            ) from error

    def _draft(self, draft: Draft) -> dict[str, Any]:
        """Give a draft; with logits it is accepted by rejection sampling.

        No acceptance threshold is set: it would make the output lossy.
        """
        if not draft.tokens:
            return {}
        given = {} if draft.logits is None else {"logits": draft.logits}
        config = self.bindings.make(
            "ExternalDraftTokensConfig", tokens=list(draft.tokens), **given
        )
        return {"external_draft_tokens_config": config}

    def _lookahead(self, sizes: Sequence[int] | None) -> dict[str, Any]:
        if sizes is None:
            return {}
        names = ("max_window_size", "max_ngram_size", "max_verification_set_size")
        given = dict(zip(names, sizes, strict=True))
        config = self.bindings.make("LookaheadDecodingConfig", **given)
        return {"lookahead_config": config}

    def _sampling(self, sampling: SamplingParams) -> Any:
        """Say greedy by top-k 1; else name top-p, without which it were greedy too."""
        if is_greedy(sampling):
            return self.bindings.make(
                "SamplingConfig", beam_width=1, top_k=1, temperature=1.0
            )
        top_k = {"top_k": sampling.top_k} if sampling.top_k else {}
        return self.bindings.make(
            "SamplingConfig",
            beam_width=1,
            top_p=sampling.top_p,
            temperature=sampling.temperature,
            seed=sampling.seed,
            **top_k,
        )

    def _ends(self, asked: Request) -> dict[str, Any]:
        """Give one end token as ``end_id``, further ones as stop words."""
        if asked.ignore_eos or not self.end_tokens:
            return {}
        first, *others = self.end_tokens
        words = {"stop_words": [[token] for token in others]} if others else {}
        return {"end_id": first, **words}
