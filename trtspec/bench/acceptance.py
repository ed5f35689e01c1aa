"""How much of what was drafted became output: overall, by position, by kind of text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.cells import Acceptance, Position
from trtspec.bench.metrics.base import share, total
from trtspec.bench.ratio import Interval
from trtspec.bench.records import Sample
from trtspec.bench.spread import t_quantile

_FIRST_CONTEXT = 256
_NORMAL = 1.959964
"""The normal quantile of a two-sided 95 % interval."""

Ints = NDArray[np.int64]


def acceptance_of(samples: Sequence[Sample]) -> Acceptance | None:
    """Add up over requests; None if the engine does not tell, or nothing ran."""
    steps = total(s.steps for s in samples)
    accepted = total(s.accepted for s in samples)
    drafted = total(s.drafted for s in samples)
    if steps is None or accepted is None or drafted is None:
        return None
    return _acceptance(len(samples), int(steps), int(drafted), int(accepted))


def by_category(samples: Sequence[Sample]) -> dict[str, Acceptance]:
    """Split by the prompts' categories; empty if the prompts name none."""
    groups: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        groups[sample.category].append(sample)
    groups.pop("", None)
    found = {name: acceptance_of(group) for name, group in sorted(groups.items())}
    return {name: counts for name, counts in found.items() if counts}


def by_context(samples: Sequence[Sample]) -> dict[str, Acceptance]:
    """Split steps by the tokens before them: 0-255, 256-511, 512-1023, ... doubling.

    The tokens before a step are the prompt and the output so far. Empty if an engine
    does not tell them, or its single steps, of every request.
    """
    if any(s.draft_steps is None or s.prompt_tokens is None for s in samples):
        return {}
    steps = _steps(samples)
    starts = _buckets(_contexts(steps, [s.prompt_tokens or 0 for s in samples]))
    return {
        _bucket_name(int(start)): _acceptance(
            len(np.unique(within[:, 0])),
            len(within),
            int(within[:, 2].sum()),
            int(within[:, 4].sum()),
        )
        for start in np.unique(starts)
        for within in [steps[starts == start]]
    }


def by_position(samples: Sequence[Sample]) -> tuple[Position, ...]:
    """Follow the k-th draft token of each step; of a tree, its k-th level.

    A step whose draft was shorter than k says nothing about position k, so a schedule
    of draft lengths does not lower the figures of the later positions. Empty if an
    engine does not tell the single steps of every request.
    """
    if any(s.draft_steps is None for s in samples):
        return ()
    steps = _steps(samples)
    prompts = int(steps[:, 1].max(initial=-1)) + 1
    deepest = int(steps[:, 3].max(initial=0))
    return tuple(_position(k, steps, prompts) for k in range(1, deepest + 1))


def _steps(samples: Sequence[Sample]) -> Ints:
    """Give all steps in one table, [steps, 5].

    Its columns: number of the request, number of the prompt, drafted, depth, accepted.
    """
    numbers = {p: i for i, p in enumerate(dict.fromkeys(s.prompt_id for s in samples))}
    rows = [
        (request, numbers[sample.prompt_id], *step)
        for request, sample in enumerate(samples)
        for step in sample.draft_steps or ()
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 5)


def _position(k: int, steps: Ints, prompts: int) -> Position:
    """Count at position k.

    :param steps: as ``_steps`` gives them.
    """
    _, prompt, _, depth, accepted = steps[steps[:, 3] >= k].T
    reached = np.bincount(prompt[accepted >= k - 1], minlength=prompts)
    passed = np.bincount(prompt[accepted >= k], minlength=prompts)
    return Position(
        position=k,
        offered=len(depth),
        reached=int(reached.sum()),
        accepted=int(passed.sum()),
        share=share(int(passed.sum()), len(depth)),
        conditional=share(int(passed.sum()), int(reached.sum())),
        interval=clustered_wilson(passed, reached),
    )


def clustered_wilson(successes: Ints, trials: Ints) -> Interval | None:
    """Give the 95 % interval of a share whose trials come in clusters.

    Steps of one prompt are alike, and a repeated block repeats them: so the prompts are
    the clusters. The variance of the ratio of sums between them gives the number of
    independent trials that would tell as much (Korn and Graubard, Survey Methodology
    24, 1998), and that number goes into Wilson's interval (JASA 22, 1927). If all or
    none succeed, there is no variance, and each prompt counts as one trial.

    :param successes: of each prompt, [prompts].
    :param trials: of each prompt, [prompts].
    :return: None below two prompts with trials.
    """
    tried = trials > 0
    successes, trials = successes[tried], trials[tried]
    prompts = len(trials)
    if prompts < 2:
        return None
    total_trials = float(trials.sum())
    part = float(successes.sum()) / total_trials
    beyond = successes - part * trials
    variance = prompts / (prompts - 1) * float((beyond**2).sum()) / total_trials**2
    size = float(prompts) if part in (0.0, 1.0) else total_trials
    if variance > 0:
        lowered = (_NORMAL / t_quantile(prompts - 1)) ** 2
        size = min(part * (1 - part) / variance * lowered, total_trials)
    return wilson(part, size)


def wilson(part: float, trials: float) -> Interval:
    """Give Wilson's 95 % interval of a share of so many independent trials."""
    square = _NORMAL**2 / trials
    center = (part + square / 2) / (1 + square)
    root = sqrt(part * (1 - part) / trials + square / (4 * trials))
    half = _NORMAL * root / (1 + square)
    return max(0.0, center - half), min(1.0, center + half)


def _contexts(steps: Ints, prompt_tokens: Sequence[int]) -> Ints:
    """Give the tokens before each step, [steps]; the prefill emits the first of output.

    :param prompt_tokens: of each request.
    """
    request, emitted = steps[:, 0], steps[:, 4] + 1
    before = np.cumsum(emitted) - emitted
    first = np.searchsorted(request, request)  # the first step of the same request
    return np.asarray(np.array(prompt_tokens)[request] + 1 + before - before[first])


def _buckets(contexts: Ints) -> Ints:
    """Give the first context of each one's bucket, [steps]."""
    _, bits = np.frexp(contexts.astype(float))
    return np.where(contexts < _FIRST_CONTEXT, 0, 1 << (bits.astype(np.int64) - 1))


def _bucket_name(start: int) -> str:
    return f"{start}-{2 * start - 1 if start else _FIRST_CONTEXT - 1}"


def _acceptance(requests: int, steps: int, drafted: int, accepted: int) -> Acceptance:
    per_step = share(accepted, steps)
    return Acceptance(
        requests=requests,
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        rate=share(accepted, drafted),
        length=None if per_step is None else 1 + per_step,
    )
