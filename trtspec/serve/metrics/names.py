"""Which metrics a server has: vLLM's names, with a prefix of our own."""

from __future__ import annotations

PREFIX = "trtspec:"

RUNNING = PREFIX + "num_requests_running"
WAITING = PREFIX + "num_requests_waiting"
PROMPT_TOKENS = PREFIX + "prompt_tokens"
GENERATION_TOKENS = PREFIX + "generation_tokens"
FINISHED = PREFIX + "request_success"
REFUSED = PREFIX + "requests_refused"
FAILED = PREFIX + "requests_failed"
QUEUE_SECONDS = PREFIX + "request_queue_time_seconds"
TTFT_SECONDS = PREFIX + "time_to_first_token_seconds"
TPOT_SECONDS = PREFIX + "request_time_per_output_token_seconds"
E2E_SECONDS = PREFIX + "e2e_request_latency_seconds"
DRAFTS = PREFIX + "spec_decode_num_drafts"
DRAFT_TOKENS = PREFIX + "spec_decode_num_draft_tokens"
ACCEPTED_TOKENS = PREFIX + "spec_decode_num_accepted_tokens"
ACCEPTED_PER_POSITION = PREFIX + "spec_decode_num_accepted_tokens_per_pos"
STEPS = PREFIX + "verification_steps"
INFO = PREFIX + "info"
READY = PREFIX + "ready"

GAUGES = (RUNNING, WAITING, INFO, READY)
COUNTERS = (
    *(PROMPT_TOKENS, GENERATION_TOKENS, FINISHED, REFUSED, FAILED),
    *(DRAFTS, DRAFT_TOKENS, ACCEPTED_TOKENS, ACCEPTED_PER_POSITION, STEPS),
)
"""Exposed with ``_total`` behind the name, as Prometheus wants it."""
HISTOGRAMS = (QUEUE_SECONDS, TTFT_SECONDS, TPOT_SECONDS, E2E_SECONDS)

SHORT_BUCKETS = (
    *(0.001, 0.0025, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.05),
    *(0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.5),
)
"""Seconds: for the time between tokens."""
LONG_BUCKETS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
    *(10.0, 20.0, 40.0, 80.0, 160.0, 320.0, 640.0),
)
"""Seconds: for waiting, the first token and the whole answer."""
