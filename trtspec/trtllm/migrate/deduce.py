"""Which family of releases a vendor's YAML was written for, as far as its keys tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trtspec.recipe.yaml_lines import Key, KeyPath, dotted
from trtspec.trtllm.facts.families import FAMILIES, Family, newest_of
from trtspec.trtllm.facts.llm_args import keys
from trtspec.trtllm.migrate.batch import SCHEDULE
from trtspec.trtllm.migrate.concurrency import LIMIT
from trtspec.trtllm.migrate.config import DRIVEN_ONLY, EARLY, SPEC
from trtspec.trtllm.migrate.lengths import HEADS, LENGTH, SIZE
from trtspec.trtllm.migrate.methods import method_of, spelling
from trtspec.trtllm.migrate.schedules import no_schedule
from trtspec.trtllm.migrate.suffix import SWITCH
from trtspec.trtllm.migrate.walk import TYPE, described, parts
from trtspec.trtllm.pytorch.compile.driven import ONE_MODEL_FLAG
from trtspec.trtllm.pytorch.compile.known import is_deprecated


class Contradiction(NamedTuple):
    """What speaks against a file's being one of a family.

    :param is_mild: whether the family takes the key, and only wants it gone.
    """

    path: KeyPath
    why: str
    is_mild: bool = False


def candidates(values: Mapping[Key, Any]) -> tuple[Family, ...]:
    """Give the families that a file fits best, oldest first.

    Files of the wild mix the keys of releases: those with the fewest contradictions
    are taken, mild ones last. Where the family decides what a number means, mild ones
    decide nothing, and no family is taken alone whose decoding_type is not the file's.
    """
    against = {family: _against(values, family) for family in FAMILIES}
    fewest = min(against.values())
    if decisive_key(values) is None:
        return tuple(f for f, number in against.items() if number == fewest)
    fitting = tuple(f for f, number in against.items() if number[0] == fewest[0])
    if any(_is_spelled(values, family) for family in fitting):
        return fitting
    spelled = [family for family in FAMILIES if _is_spelled(values, family)]
    least = min((against[family] for family in spelled), default=None)
    too = [family for family in spelled if against[family] == least]
    return tuple(f for f in FAMILIES if f in (*fitting, *too))


def better_than(values: Mapping[Key, Any], family: Family) -> tuple[Family, ...]:
    """Give the families that a file fits best, if it fits one less well; else none."""
    fitting = candidates(values)
    return () if family in fitting else fitting


def decisive_key(values: Mapping[Key, Any]) -> KeyPath | None:
    """Give the first key whose meaning is another in another family; None without."""
    spec = values.get(SPEC)
    if not isinstance(spec, dict):
        return None
    found = (key for key in DRIVEN_ONLY if spec.get(key) is not None)
    return next(((SPEC, key) for key in found), None)


def contradictions(
    values: Mapping[Key, Any], family: Family
) -> tuple[Contradiction, ...]:
    """Give what keeps a file from being one of a family: keys and reasons."""
    return (*_keys(values, family), *_speculation(values, family))


def _is_spelled(values: Mapping[Key, Any], family: Family) -> bool:
    """Whether a file has its decoding_type as a family does."""
    return not any(c.path == (SPEC, TYPE) for c in contradictions(values, family))


def _against(values: Mapping[Key, Any], family: Family) -> tuple[int, int]:
    """Count the contradictions: those that weigh, and mild ones."""
    found = contradictions(values, family)
    mild = sum(one.is_mild for one in found)
    return len(found) - mild, mild


def _keys(values: Mapping[Key, Any], family: Family) -> Iterator[Contradiction]:
    version = newest_of(family)
    for path, section, name in parts(values, version):
        known = keys(name, version)
        for key in section:
            field = known.get(str(key))
            place = (*path, key)
            if place in ((SPEC,), (SPEC, TYPE)):
                continue
            if field is None and described(str(key), name):
                yield Contradiction(place, f"{family} does not have {dotted(place)}")
            elif (path, key) == ((SPEC,), ONE_MODEL_FLAG["mtp"]) and field is not None:
                continue  # 1.2 warns of it, and runs two models
            elif field is not None and is_deprecated(field, version):
                why = f"{dotted(place)} is on its way out in {family}"
                yield Contradiction(place, why, is_mild=True)


def _speculation(values: Mapping[Key, Any], family: Family) -> Iterator[Contradiction]:
    spec = values.get(SPEC)
    if not isinstance(spec, dict):
        return
    method = method_of(spec.get(TYPE))
    wanted = spelling(method, newest_of(family))
    if str(wanted).lower() != str(spec.get(TYPE)).lower():
        how = f"is spelled {wanted}" if wanted else "is no type"
        yield Contradiction((SPEC, TYPE), f"{spec.get(TYPE)} {how} in {family}")
    early = family in EARLY
    if method == "mtp" and early and LENGTH in spec and HEADS not in spec:
        yield Contradiction((SPEC, LENGTH), f"{family} goes by {HEADS}")
    if method == "ngram" and early and not spec.get(SIZE):
        yield Contradiction((SPEC, SIZE), f"{family} refuses NGram without {SIZE}")
    if early and SWITCH in spec:
        yield Contradiction(
            (SPEC, SWITCH), f"{family} has no suffix automaton next to a drafter"
        )
    yield from _by_batch(spec, family)


def _by_batch(spec: Mapping[str, Any], family: Family) -> Iterator[Contradiction]:
    given: Any = spec.get(SCHEDULE)
    if no_schedule(given):
        return  # it is one nowhere, and tells nothing
    starts = {str(key) for key in given}
    if family in EARLY and "1" not in starts:
        yield Contradiction(
            (SPEC, SCHEDULE), f"{family} wants an entry for batch size 1"
        )
    if family == "main" and "1" in starts and len(given) > 1:
        why = "on main an entry for batch size 1 is for single requests only"
        yield Contradiction((SPEC, SCHEDULE), why)
    if family == "main" and LIMIT in spec:
        yield Contradiction((SPEC, LIMIT), f"main refuses {LIMIT} next to {SCHEDULE}")
