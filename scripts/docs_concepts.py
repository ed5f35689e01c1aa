"""Computes the small examples of docs/concepts.md with the code that decodes.

torch is imported where it is used: docs_blocks.py imports this for every page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trtspec.bench.acceptance import acceptance_of
from trtspec.bench.break_even import break_even
from trtspec.bench.ratio import Ratio
from trtspec.bench.records import Sample
from trtspec.run.prompt_lookup import NGramIndex
from trtspec.tune.closed_form import best_length, expected_gain, expected_tokens
from trtspec.verify.greedy.tolerance import DTYPES, STEPS, Tolerance

WORDS = ("the", "cat", "sat", "on", "mat")


def drafted() -> Iterator[str]:
    """Draft by prompt lookup from a text of five words."""
    text = ["the", "cat", "sat", "on", "the", "cat"]
    ids = [WORDS.index(word) for word in text]
    draft = NGramIndex(3).draft(ids, 3)
    yield "```text"
    yield f"text so far     {' '.join(text)}"
    yield f"draft, K = 3    {' '.join(WORDS[token] for token in draft)}"
    yield "```"


def greedy() -> Iterator[str]:
    """Verify that draft against a target that says something else at its end."""
    from trtspec.reference.acceptance.exact import accept_greedy
    from trtspec.reference.tree import DraftTree

    draft = [WORDS.index(word) for word in ("sat", "on", "the")]
    says = [WORDS.index(word) for word in ("sat", "on", "mat", "cat")]
    tree = DraftTree.chain(draft)
    accepted = accept_greedy(tree, says)
    columns = zip(draft, says, strict=False)
    yield "| position | draft | the target says | |"
    yield "|---|---|---|---|"
    for place, (guess, word) in enumerate(columns, start=1):
        verdict = "accepted" if place <= len(accepted.path) else "rejected"
        yield f"| {place} | {WORDS[guess]} | {WORDS[word]} | {verdict} |"
    yield ""
    out = [WORDS[tree.tokens[node]] for node in accepted.path]
    out.append(WORDS[accepted.next_token])
    yield (
        f"Out come {len(out)} tokens: {' '.join(out)}. "
        f"{len(accepted.path)} of {len(tree)} draft tokens were accepted, and the last "
        f"token, *{out[-1]}*, is the target's own."
    )


def sampled() -> Iterator[str]:
    """Show that what comes out has the target's probabilities, whatever drafts."""
    import torch

    from trtspec.reference.acceptance.exact import acceptance_probability, residual

    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    q = torch.tensor([0.8, 0.1, 0.1], dtype=torch.float64)
    chances = [acceptance_probability(p, q, token) for token in range(len(p))]
    kept = [float(q[token]) * chances[token] for token in range(len(p))]
    rejected = 1 - sum(kept)
    left = residual(p, q, 0)
    yield "| | cat | dog | cow | sum |"
    yield "|---|---|---|---|---|"
    rows: dict[str, list[float]] = {
        "target p": p.tolist(),
        "drafter q": q.tolist(),
        "accepted if drafted, min(1, p / q)": chances,
        "drafted and accepted": kept,
        "drawn after a rejection, max(0, p - q) made to sum to 1": left.tolist(),
        "rejected, then drawn": [rejected * float(share) for share in left],
    }
    rows["comes out"] = [a + b for a, b in zip(kept, rows[_LAST], strict=True)]
    for name, row in rows.items():
        total = "" if name.startswith("accepted") else f"{sum(row):.2f}"
        yield f"| {name} | {' | '.join(f'{x:.3g}' for x in row)} | {total} |"


_LAST = "rejected, then drawn"


def naive() -> Iterator[str]:
    """Show what comes out where a rejection is followed by a draw from all of p."""
    token = 0.5
    yield (
        f"A draft token of probability {token} would come out with "
        f"{token} + {1 - token} x {token} = {token * (2 - token)}."
    )


def counts() -> Iterator[str]:
    """Compute rate and length of a request of four steps."""
    steps = ((4, 4), (4, 1), (4, 0), (2, 2))
    sample = _sample(steps)
    found = acceptance_of([sample])
    assert found is not None
    yield "| step | drafted | accepted | emitted |"
    yield "|---|---|---|---|"
    for number, (proposed, accepted) in enumerate(steps, start=1):
        yield f"| {number} | {proposed} | {accepted} | {accepted + 1} |"
    total = found.accepted + found.steps
    yield f"| all | {found.drafted} | {found.accepted} | {total} |"
    yield ""
    yield (
        f"Acceptance rate: {found.accepted} / {found.drafted} = {found.rate:.2f}. "
        f"Acceptance length: 1 + {found.accepted} / {found.steps} = {found.length:.2f} "
        "tokens per step."
    )


def _sample(steps: tuple[tuple[int, int], ...]) -> Sample:
    """Make a request's record of what the table has; nothing else counts for it."""
    return Sample.model_construct(
        steps=len(steps),
        drafted=sum(proposed for proposed, _ in steps),
        accepted=sum(accepted for _, accepted in steps),
    )


def lengths() -> Iterator[str]:
    """Tabulate tokens per step and gain for a chance per token and a cost."""
    cost = 0.05
    wanted = (1, 2, 4, 8)
    heads = " | ".join(f"K = {length}" for length in wanted)
    yield f"| each draft token accepted with | {heads} | best |"
    yield f"|---|{'---|' * len(wanted)}---|"
    for chance in (0.3, 0.6, 0.8, 0.9):
        cells = (
            f"{expected_tokens(chance, k):.2f} ({expected_gain(chance, k, cost):.2f}x)"
            for k in wanted
        )
        best = best_length(chance, cost)
        optimum = f"K = {best.length}, {best.gain:.2f}x"
        yield f"| {chance} | {' | '.join(cells)} | {optimum} |"


def crossing() -> Iterator[str]:
    """Find the break-even of a ladder of three loads."""
    ladder = {1: 1.6, 4: 1.2, 16: 0.8}
    measured: dict[int, Ratio | None] = {
        load: Ratio(
            estimate=ratio,
            interval=(ratio * 0.95, ratio * 1.05),
            prompts_interval=None,
            blocks_interval=None,
        )
        for load, ratio in ladder.items()
    }
    found = break_even(measured)
    rungs = ", ".join(f"{ratio} at {load}" for load, ratio in ladder.items())
    assert found.interval is not None
    low, high = found.interval
    yield (
        f"On / off throughput of {rungs} requests in flight, each known to 5 %: "
        f"break-even at {found.concurrency:.1f} requests, 95 % interval "
        f"{low:.1f} to {high:.1f}."
    )


def ties() -> Iterator[str]:
    """List what counts as a near tie, per number format."""
    yield "| format | logits of 16 to 32 lie apart by | near tie up to a gap of |"
    yield "|---|---|---|"
    for dtype in DTYPES:
        tolerance = Tolerance(dtype=dtype, dtype_from="assumed", steps=STEPS[dtype])
        step = tolerance.at() / tolerance.steps
        yield f"| {dtype} | {step:.2g} | {tolerance.at():.2g} |"


MAKERS: dict[str, Callable[..., Iterator[str]]] = {
    "concept-draft": drafted,
    "concept-greedy": greedy,
    "concept-sampled": sampled,
    "concept-naive": naive,
    "concept-counts": counts,
    "concept-lengths": lengths,
    "concept-break-even": crossing,
    "concept-ties": ties,
}
