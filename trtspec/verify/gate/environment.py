"""Whether environment variables make an engine accept what the target would not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trtspec.forced_acceptance import (
    SGLANG,
    VARIABLES,
    Switch,
    forced_variables,
)
from trtspec.verify.gate.result import Inspected, lossless, lossy, untold

ENVIRONMENT = "environment"
_TRUE = ("true", "1", "yes", "y")
_GREEDY_NGRAM = Switch(
    "SGLANG_NGRAM_FORCE_GREEDY_VERIFY",
    SGLANG,
    0,
    "python/sglang/srt/speculative/ngram_info.py",
)
_UNSEEN = "it is not known whether the engine's process has this variable, which would "
_FORCES = _UNSEEN + "force acceptance"
_COLLAPSES = _UNSEEN + "make sampled requests greedy"


@dataclass(frozen=True, slots=True)
class Variables:
    """What is known of the environment of an engine's process.

    :param complete: whether a variable that is not among them is known to be unset.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False

    @classmethod
    def of(
        cls, environment: Mapping[str, str] | None, seen: Mapping[str, str]
    ) -> Variables:
        """Join an environment with what a command line sets.

        :param environment: None if it is not known.
        """
        return cls({**(environment or {}), **seen}, environment is not None)

    def lacks(self, name: str) -> bool:
        """Whether it cannot be told if the process has a variable."""
        return not self.complete and name not in self.values


def by_environment(
    variables: Variables, engine: str, *, reads: bool = True
) -> Iterator[Inspected]:
    """Say of each variable that forces acceptance what it does to an engine.

    :param engine: one of ``trtspec.forced_acceptance``, or any other.
    :param reads: whether this backend of the engine reads its variables at all.
    """
    in_force = {f.switch.name: str(f) for f in forced_variables(variables.values)}
    for switch in VARIABLES:
        ours = reads and switch.engine == engine
        if ours or switch.name in variables.values:
            forced = in_force.get(switch.name, "")
            yield _of(switch, variables, forced, ours=ours)


def _of(switch: Switch, variables: Variables, forced: str, *, ours: bool) -> Inspected:
    value = variables.values.get(switch.name)
    place = switch.name, ENVIRONMENT, value
    if variables.lacks(switch.name):
        return untold(*place, _FORCES, switch.source)
    if forced and ours:
        return lossy(*place, forced, switch.source)
    if value is None:
        meaning = "acceptance is not forced"
    else:
        meaning = "this value forces nothing" if ours else "this engine ignores it"
    return lossless(*place, meaning, switch.source)


def by_greedy_ngram(variables: Variables, *, sampled: bool) -> Inspected:
    """Say whether SGLang's n-gram drafts make it decode greedily."""
    name, source = _GREEDY_NGRAM.name, _GREEDY_NGRAM.source
    value = variables.values.get(name)
    if not sampled:
        return lossless(name, ENVIRONMENT, value, "requests are greedy", source)
    if variables.lacks(name):
        return untold(name, ENVIRONMENT, None, _COLLAPSES, source)
    if (value or "").lower() in _TRUE:
        what = "temperature is ignored: each token is the target's likeliest"
        return lossy(name, ENVIRONMENT, value, what, source)
    return lossless(name, ENVIRONMENT, value, "requests are sampled", source)
