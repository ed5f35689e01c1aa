"""The counters, gauges and histograms of one server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

from trtspec.run import Completion
from trtspec.serve.metrics import names

CONTENT_TYPE = CONTENT_TYPE_LATEST
disable_created_metrics()  # type: ignore[no-untyped-call]  # a series more for each


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server serves: the labels of ``trtspec:info``.

    :param draft_length: as in the recipe; empty for a method that has none.
    """

    version: str
    backend: str
    method: str
    artifact: str
    fingerprint: str
    draft_length: str


class ServerMetrics:
    """Counts what a server does; each has the label ``model_name``.

    What speculation did is counted when a request ends, so that drafts, draft tokens
    and accepted tokens always belong to the same requests.

    :param model: the served name.
    """

    def __init__(self, model: str, identity: Identity) -> None:
        self._model = model
        self._registry = CollectorRegistry(auto_describe=True)
        self._prompt = self._counter(names.PROMPT_TOKENS, "Prompt tokens read.")
        self._generated = self._counter(names.GENERATION_TOKENS, "Tokens written.")
        self._finished = self._counter(
            names.FINISHED, "Requests that ended, by how.", "finished_reason"
        )
        self._refused = self._counter(
            names.REFUSED, "Requests that were not taken, by status.", "reason"
        )
        self._failed = self._counter(
            names.FAILED, "Requests that were taken and lost, by status.", "reason"
        )
        long = names.LONG_BUCKETS
        self._queue = self._histogram(names.QUEUE_SECONDS, "Waiting for a place.", long)
        self._ttft = self._histogram(
            names.TTFT_SECONDS, "From arrival to the first token.", long
        )
        self._e2e = self._histogram(
            names.E2E_SECONDS, "From arrival to the last token.", long
        )
        self._tpot = self._histogram(
            names.TPOT_SECONDS,
            "(last token - first token) / (tokens - 1) of a request.",
            names.SHORT_BUCKETS,
        )
        self._drafts = self._counter(names.DRAFTS, "Drafts that were verified.")
        self._drafted = self._counter(names.DRAFT_TOKENS, "Draft tokens offered.")
        self._accepted = self._counter(
            names.ACCEPTED_TOKENS, "Draft tokens that became output."
        )
        self._per_position = self._counter(
            names.ACCEPTED_PER_POSITION,
            "Accepted draft tokens by their place in the draft.",
            "position",
        )
        self._steps = self._counter(names.STEPS, "Verification steps of requests.")
        self._ready = self._gauge(names.READY, "1 while requests are taken.")
        self._running = self._gauge(names.RUNNING, "Requests in the engine's batch.")
        self._waiting = self._gauge(names.WAITING, "Requests that wait for a place.")
        self._say_who(identity)

    def watch(self, running: Callable[[], int], waiting: Callable[[], int]) -> None:
        """Ask these for the gauges whenever they are read."""
        self._running.labels(self._model).set_function(running)
        self._waiting.labels(self._model).set_function(waiting)

    def ready(self, ready: bool) -> None:
        """Say whether requests are taken."""
        self._ready.labels(self._model).set(ready)

    def refused(self, reason: str) -> None:
        """Count a request that was not taken."""
        self._refused.labels(self._model, reason).inc()

    def failed(self, reason: str) -> None:
        """Count a request that was taken and ended in an error."""
        self._failed.labels(self._model, reason).inc()

    def finished(self, done: Completion) -> None:
        """Count a request that has ended, with all that it knows of itself."""
        self._finished.labels(self._model, done.finish_reason).inc()
        self._prompt.labels(self._model).inc(done.prompt_tokens)
        self._generated.labels(self._model).inc(len(done.tokens))
        self._time(done)
        self._count_drafts(done)

    def render(self) -> bytes:
        """Give all of it in Prometheus' text format."""
        return generate_latest(self._registry)

    def _time(self, done: Completion) -> None:
        if done.joined_at:
            waited = done.joined_at - done.submitted_at
            self._queue.labels(self._model).observe(waited)
        for histogram, seconds in (
            (self._ttft, done.ttft),
            (self._tpot, done.tpot),
            (self._e2e, done.e2e),
        ):
            if seconds is not None:
                histogram.labels(self._model).observe(seconds)

    def _count_drafts(self, done: Completion) -> None:
        self._steps.labels(self._model).inc(done.steps)
        self._drafted.labels(self._model).inc(done.drafted)
        self._accepted.labels(self._model).inc(done.accepted)
        drafts = [step for step in done.draft_steps or () if step.drafted]
        self._drafts.labels(self._model).inc(len(drafts))
        for step in drafts:
            for position in range(step.accepted):
                self._per_position.labels(self._model, str(position)).inc()

    def _say_who(self, identity: Identity) -> None:
        values = asdict(identity)
        gauge = self._gauge(names.INFO, "What is served; always 1.", *values)
        gauge.labels(self._model, *values.values()).set(1)
        for counter in (
            *(self._prompt, self._generated, self._steps),
            *(self._drafts, self._drafted, self._accepted),
        ):
            counter.labels(self._model)  # 0 is not the same as missing
        self._per_position.labels(self._model, "0")

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        names_ = ("model_name", *labels)
        return Counter(name, text, names_, registry=self._registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        names_ = ("model_name", *labels)
        return Gauge(name, text, names_, registry=self._registry)

    def _histogram(self, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
        labels = ("model_name",)
        return Histogram(name, text, labels, buckets=buckets, registry=self._registry)
