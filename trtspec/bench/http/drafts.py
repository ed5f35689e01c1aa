"""What a server's answer says about drafts; most servers say nothing.

Each server has its own place for it, and fills it only if it was started so:

- vLLM, ``--per-request-spec-decode-metrics``: ``metrics.speculative_decoding`` of an
  event (vllm/entrypoints/generate/base/protocol.py), with ``detailed`` single steps.
- TensorRT-LLM, ``per_request_spec_decode_stats`` (pull request 19311; read as AIPerf's
  trtllm adapter does): ``speculative_decoding`` of the last choice. Before that only
  ``avg_decoded_tokens_per_iter``, which tells no drafted tokens.
- trtspec's own server: ``speculation`` of the last choice, always.
- SGLang: ``usage.completion_tokens_details`` with accepted and rejected tokens
  (python/sglang/srt/entrypoints/openai/usage_processor.py). OpenAI has the same fields
  for outputs that the user predicted; they are 0 then, which is read as: not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trtspec.errors import RunError
from trtspec.run import DraftStep
from trtspec.trtllm.pytorch.metrics import from_response

_MOST = 1 << 53
"""Counts from here on are no counts, and no float tells them from their neighbours."""
AVERAGE = "avg_decoded_tokens_per_iter"
DETAILS = "speculative_decoding"
OWN = "speculation"
_DRAFTED = ("num_draft_tokens", "total_draft_tokens")
_ACCEPTED = ("num_accepted_draft_tokens", "total_accepted_draft_tokens")


@dataclass(frozen=True, slots=True)
class Drafts:
    """Counts of one request; None is what the server does not tell.

    :param lossy: why the output need not be the target model's own, as the server says.
    """

    steps: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    draft_steps: tuple[DraftStep, ...] | None = None
    lossy: str = ""

    @property
    def any(self) -> bool:
        """Whether drafts were proposed."""
        return bool(self.drafted or self.accepted)

    @property
    def impossible(self) -> bool:
        """Whether more was accepted than proposed."""
        return self.drafted is not None and (self.accepted or 0) > self.drafted


@dataclass(slots=True)
class Told:
    """Where the last event of each kind that says something is kept.

    :ivar details: the object ``speculative_decoding``, whoever sent it.
    :ivar average: ``avg_decoded_tokens_per_iter`` of the last choice.
    :ivar own: the object ``speculation`` of trtspec's server.
    """

    details: Mapping[str, Any] | None = None
    average: object = None
    own: Mapping[str, Any] | None = None

    def take(self, content: Mapping[str, Any], choice: Mapping[str, Any]) -> None:
        """Note what an event says.

        :param choice: its choice; empty if it has none.
        """
        for place in (content.get("metrics"), choice):
            if isinstance(place, Mapping) and isinstance(
                details := place.get(DETAILS), Mapping
            ):
                self.details = details
        if choice.get(AVERAGE) is not None:
            self.average = choice[AVERAGE]
        if isinstance(own := choice.get(OWN), Mapping):
            self.own = own

    def drafts(self, usage: Mapping[str, Any], tokens: int) -> Drafts:
        """Give what is known, from the source that tells most.

        Counts that cannot be, more accepted than drafted, are taken as not told.

        :param tokens: of the output.
        """
        found = self._drafts(usage, tokens)
        return Drafts(lossy=found.lossy) if found.impossible else found

    def _drafts(self, usage: Mapping[str, Any], tokens: int) -> Drafts:
        if self.own is not None:
            return _from_own(self.own)
        if self.details is not None:
            return _from_details(self.details, tokens)
        found = _from_usage(usage)
        return found if found.any else _from_average(self.average, tokens)


def _from_own(own: Mapping[str, Any]) -> Drafts:
    lossy = own.get("lossy")
    return Drafts(
        steps=whole_number(own.get("steps")),
        drafted=whole_number(own.get("drafted")),
        accepted=whole_number(own.get("accepted")),
        lossy=lossy if isinstance(lossy, str) else "",
    )


def _from_details(details: Mapping[str, Any], tokens: int) -> Drafts:
    return Drafts(
        steps=whole_number(details.get("num_spec_steps")),
        drafted=_first(details, _DRAFTED),
        accepted=_first(details, _ACCEPTED),
        draft_steps=_steps(details, tokens),
    )


def _steps(details: Mapping[str, Any], tokens: int) -> tuple[DraftStep, ...] | None:
    """Give the single steps; None if not told, or if some step is not among them.

    A step without a draft is not among them, and then the context of the later ones
    is not known.
    """
    drafted, accepted = (
        details.get(f"per_step_{what}") for what in ("drafted", "accepted")
    )
    if not isinstance(drafted, list) or not isinstance(accepted, list):
        return None
    pairs = [
        (whole_number(d), whole_number(a))
        for d, a in zip(drafted, accepted, strict=False)
    ]
    steps = [
        DraftStep(d, d, a)
        for d, a in pairs
        if d is not None and a is not None and a <= d
    ]
    whole = len(steps) == len(drafted) == len(accepted)
    # the prefill emits the first token, a step one and what it accepted
    if not whole or 1 + sum(step.accepted + 1 for step in steps) < tokens:
        return None
    return tuple(steps)


def _from_usage(usage: Mapping[str, Any]) -> Drafts:
    details = usage.get("completion_tokens_details")
    if not isinstance(details, Mapping):
        return Drafts()
    accepted = whole_number(details.get("accepted_prediction_tokens"))
    rejected = whole_number(details.get("rejected_prediction_tokens"))
    if accepted is None or rejected is None:
        return Drafts()
    return Drafts(drafted=accepted + rejected, accepted=accepted)


def _from_average(average: object, tokens: int) -> Drafts:
    if not isinstance(average, int | float) or isinstance(average, bool):
        return Drafts()
    try:
        found = from_response(average, tokens)
    except RunError:
        return Drafts()  # it makes no sense; the timings still do
    return Drafts(steps=found.steps, accepted=found.accepted)


def _first(details: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    found = (whole_number(details.get(name)) for name in names)
    return next((count for count in found if count is not None), None)


def whole_number(value: object) -> int | None:
    """Give a whole number that counts something; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _MOST else None
