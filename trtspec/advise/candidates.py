"""Which ways to speculate there are for a target, and whether each can be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.advise.drafters import Drafter
from trtspec.advise.fitting import Circumstances, checked
from trtspec.advise.ranking import rank, why
from trtspec.advise.recipe import Draft, Way
from trtspec.advise.starting_points import METHODS_TO_START
from trtspec.advise.verdict import State, verdict
from trtspec.methods import Method, lossy_reason
from trtspec.methods.catalogue import METHODS, settings
from trtspec.trtllm.alternatives import ALTERNATIVES

_GROUPS: dict[State, int] = {"usable": 0, "download": 0, "get": 1, "no": 2}
"""Order in which they are shown; within a group the rank decides."""

_TRAINED = "a drafter for it, trained on this target: none is known (--draft names one)"
_MODEL = (
    "a smaller model with the target's token ids: none is known (--draft names one)"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to speculate.

    :param needs: what is to be got first, or why it cannot be used.
    :param why: what speaks for it, or against it, before it is tried.
    :param sampled: why sampled output would not be the target's own; empty if it is.
    :param draft: the recipe that begins with it; None if there is none to write.
    :param rank: smaller is to be tried first, within its state.
    """

    method: str
    backend: str
    state: State
    needs: tuple[str, ...]
    rank: float
    why: tuple[str, ...] = ()
    drafter: Drafter | None = None
    sampled: str = ""
    draft: Draft | None = None

    @property
    def can_be_written(self) -> bool:
        """Whether its recipe passes check, but for what this machine lacks."""
        return self.draft is not None and self.state != "no"


def candidates(given: Circumstances) -> list[Candidate]:
    """Give every way with its verdict, the one to try first in front."""
    found = [
        one
        for backend in given.backends
        for method in METHODS_TO_START
        for one in _of(given, method, backend)
    ]
    places = {name: place for place, name in enumerate(given.backends)}
    return sorted(found, key=lambda c: (_GROUPS[c.state], c.rank, places[c.backend]))


def _of(given: Circumstances, method: str, backend: str) -> Iterator[Candidate]:
    sample = settings(method)[0].method
    version = given.version if backend != "reference" else None
    place = _rank(given, method, None)
    if not sample.covered(backend, version):
        state, reason = _absent(sample, backend)
        yield Candidate(method, backend, state, (reason,), place)
        return
    if METHODS[method].drafter_kind is None:
        yield _judged(given, Way(method, None, backend))
        return
    fitting = [d for d in given.drafters if d.method == method and _loads(d, backend)]
    if not fitting:
        yield Candidate(method, backend, *_without_drafter(given, method), place)
    for drafter in fitting:
        yield _judged(given, Way(method, drafter, backend))


def _absent(method: Method, backend: str) -> tuple[State, str]:
    """Say where a method is that is not to be had here."""
    entries = list(method.exactness())
    ranges = [e.versions for e in entries if e.backend == backend and e.versions]
    if ranges:
        return "get", f"TensorRT-LLM {' or '.join(ranges)}, which has it"
    if backend == "pytorch" and method.method in ALTERNATIVES:
        instead = ALTERNATIVES[method.method]
        return "no", f"{instead.why}; take {instead.take}"
    homes = " or ".join(dict.fromkeys(entry.backend for entry in entries))
    return "no", f"backend {backend} does not have it; it is on backend {homes}"


def _loads(drafter: Drafter, backend: str) -> bool:
    return not drafter.backends or backend in drafter.backends


def _without_drafter(
    given: Circumstances, method: str
) -> tuple[State, tuple[str, ...]]:
    if method == "mtp" and given.wish.target.info is not None:
        return "no", ("the target's checkpoint holds no next-token heads (MTP)",)
    if method == "mtp":
        return "get", ("next-token heads in the target: known once it is here",)
    return "get", (_MODEL if METHODS[method].drafter_kind == "model" else _TRAINED,)


def _judged(given: Circumstances, way: Way) -> Candidate:
    """Write the recipe, and hold it against check."""
    found = checked(given, way)
    method, drafter, backend = way
    version = given.version if backend != "reference" else None
    section = found.recipe.speculation
    state, needs = verdict(found.findings, drafter, given.wish.target)
    return Candidate(
        method=method,
        backend=backend,
        state=state,
        needs=needs,
        rank=_rank(given, method, drafter),
        why=why(method, drafter, given.wish.target, given.wish.workload),
        drafter=drafter,
        sampled=lossy_reason(section, backend, version, sampled=True),
        draft=found.draft,
    )


def _rank(given: Circumstances, method: str, drafter: Drafter | None) -> float:
    return rank(method, drafter, given.wish.target, given.wish.workload)
