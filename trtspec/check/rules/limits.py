"""Whether the limits fit the models, the drafts and the workload."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trtspec.check.finding import Finding
from trtspec.check.subject import Role, Subject

_SIZES = (
    "tree_tokens",
    "draft_length",
    "tree",
    "draft_length_per_beam",
    "num_beams",
    "window_size",
    "ngram_size",
    "verification_set_size",
)
"""Parameters that decide how large a draft is, where the method has them."""


def context_length(subject: Subject) -> Iterator[Finding]:
    """Refuse sequences that are longer than a model was made for.

    Models with one limit are told of once.
    """
    wanted = subject.recipe.limits.max_total_tokens
    roles: dict[int, list[Role]] = {}
    for role, model in subject.models:
        longest = model.context_length
        if longest is not None and wanted > longest:
            roles.setdefault(longest, []).append(role)
    for longest, of in roles.items():
        models = "models were" if len(of) > 1 else "model was"
        yield Finding(
            "context-length",
            "blocking",
            subject.where("limits", "max_total_tokens"),
            f"max_total_tokens {wanted} is above the {longest} tokens that the "
            f"{' and the '.join(of)} {models} made for",
            "beyond its context length a model gives garbage or fails",
            f"set limits.max_total_tokens to {min(roles)} or less",
        )


def draft_fits(subject: Subject) -> Iterator[Finding]:
    """Refuse drafts that are no shorter than a whole sequence."""
    method = subject.recipe.speculation
    total = subject.recipe.limits.max_total_tokens
    if method.longest_draft >= total:
        keys = [key for key in _SIZES if getattr(method, key, None) is not None]
        smaller = f"choose a smaller {' or '.join(keys)}, or " if keys else ""
        yield Finding(
            "draft-length",
            "blocking",
            subject.where("speculation", keys[0] if keys else "method"),
            f"a draft of {method.longest_draft} tokens does not fit into a sequence of "
            f"at most {total} tokens",
            "the verified token and at least one of the prompt need room too",
            f"{smaller}raise limits.max_total_tokens",
        )


def schedule_reached(subject: Subject) -> Iterator[Finding]:
    """Point at entries of a draft length map that can never apply."""
    schedule = getattr(subject.recipe.speculation, "draft_length", None)
    batch = subject.recipe.limits.max_batch_size
    if not isinstance(schedule, dict):
        return
    lowest = [0, *sorted(schedule)]
    unused = [
        key for key, below in zip(lowest[1:], lowest, strict=False) if below >= batch
    ]
    if unused:
        yield Finding(
            "draft-length",
            "warning",
            subject.where("speculation", "draft_length"),
            f"the entries for up to {_listed(unused)} running requests never apply",
            f"max_batch_size {batch} lets fewer requests run at once",
            "remove them, or raise limits.max_batch_size",
        )


def concurrency(subject: Subject) -> Iterator[Finding]:
    """Point at a load that waits in the queue, or that meets no drafts."""
    workload, limits = subject.recipe.workload, subject.recipe.limits
    if workload is None:
        return
    where = subject.where("workload", "concurrency")
    waiting = [n for n in workload.concurrency if n > limits.max_batch_size]
    if waiting:
        yield Finding(
            "concurrency",
            "warning",
            where,
            f"concurrency {_listed(waiting)} is above max_batch_size "
            f"{limits.max_batch_size}",
            "the requests beyond it wait in a queue, and TTFT counts that",
            f"lower it to {limits.max_batch_size}, or raise limits.max_batch_size",
        )
    method = subject.recipe.speculation
    running = {n: min(n, limits.max_batch_size) for n in workload.concurrency}
    plain = [n for n in running if not method.draft_length_at(running[n])]
    if plain and method.longest_draft:
        yield Finding(
            "concurrency",
            "note",
            where,
            f"draft_length proposes nothing at concurrency {_listed(plain)}",
            "speculation on and off are the same there, but for requests that end",
        )


def output_tokens(subject: Subject) -> Iterator[Finding]:
    """Point at prompts that leave too little room for the wanted output."""
    workload, limits = subject.recipe.workload, subject.recipe.limits
    if workload is None:
        return
    room = limits.max_total_tokens - limits.max_input_tokens
    if workload.output_tokens > room:
        yield Finding(
            "output-tokens",
            "warning",
            subject.where("workload", "output_tokens"),
            f"a prompt of max_input_tokens {limits.max_input_tokens} leaves room for "
            f"{room} of the {workload.output_tokens} output tokens",
            f"max_total_tokens {limits.max_total_tokens} covers prompt and output; "
            "output is cut there",
            "raise limits.max_total_tokens, or lower workload.output_tokens",
        )


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))
