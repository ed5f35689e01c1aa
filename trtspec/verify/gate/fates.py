"""What becomes of what requests ask for, under speculation on backend pytorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.version import Version

from trtspec.trtllm.facts.controls import Control, EngineShape, sampling_controls
from trtspec.verify.gate.asked import PENALTIES, Asked, fate_name
from trtspec.verify.gate.result import Inspected, lossless, lossy, untold

_NO_FACT = "what the release does with it under speculation is not established"
_REJECTED = "rejected without"
"""In a note: without its key the request is answered with an error."""
_NO_VERSION = "it depends on the release, which is not known"
_TOP_K_ALONE = (
    "with top-k and no temperature, one-model engines took the likeliest token until "
    "pull request 19390 of September 2026; the first candidate with it is not "
    "established"
)
_TOP_K_SOURCE = "pull request 19390 of NVIDIA/TensorRT-LLM"

Flags = Mapping[str, bool]
"""YAML key that a control depends on → whether it is on."""


def by_fates(
    asked: Asked, version: Version | None, engine: EngineShape, flags: Flags
) -> Iterator[Inspected]:
    """Say of each further field that requests have what becomes of it.

    :param version: of TensorRT-LLM; None if it is not known.
    :param engine: the shape of engine that drafts.
    """
    known = sampling_controls(version, engine) if version else {}
    why = _NO_FACT if version else _NO_VERSION
    for name, value in asked.asks_for().items():
        control = known.get(fate_name(name))
        if control is None:
            yield untold(name, asked.where, value, why)
        else:
            yield _fate((name, asked.where, value), control, flags, version)
    if asked.temperature is None and asked.top_k and engine == "one-model":
        yield untold("top_k", asked.where, asked.top_k, _TOP_K_ALONE, _TOP_K_SOURCE)


def _fate(
    what: tuple[str, str, object],
    control: Control,
    flags: Flags,
    version: Version | None,
) -> Inspected:
    source, note = control.source, f" ({control.note})" if control.note else ""
    if control.fate == "honoured":
        return _honoured(what, control, flags)
    if control.fate == "rejected":
        why = f"such a request is answered with an error{note}"
        return lossless(*what, why, source)
    if control.fate == "dropped" and _dropped_anyway(what[0], version):
        why = "the release drops it with speculation and without"
        return lossless(*what, why, source)
    if control.fate == "not established":
        return untold(*what, f"{_NO_FACT}{note}", source)
    lost = "dropped silently" if control.fate == "dropped" else "given in part"
    return lossy(*what, f"{lost} under speculation{note}", source)


def _honoured(
    what: tuple[str, str, object], control: Control, flags: Flags
) -> Inspected:
    note = f" ({control.note})" if control.note else ""
    if not control.needs or flags.get(control.needs, False):
        return lossless(*what, f"honoured{note}", control.source)
    why = f"it needs {control.needs}, which is off{note}"
    make = lossless if _REJECTED in control.note else untold
    return make(*what, why, control.source)


def _dropped_anyway(name: str, version: Version | None) -> bool:
    """Whether plain decoding drops a penalty as well, so that nothing differs.

    The facts say it of two-model engines, whose sampler is that of plain decoding.
    """
    if version is None or name not in PENALTIES:
        return False
    plain = sampling_controls(version, "two-model").get(name)
    return plain is not None and plain.fate == "dropped"


def dropped_by_release(
    asked: Asked, version: Version | None, engine: EngineShape
) -> Iterator[str]:
    """Name fields that requests would lose if they had them: a caveat, no verdict."""
    known = sampling_controls(version, engine) if version else {}
    lost = [
        name
        for name, control in known.items()
        if control.fate in ("dropped", "partial")
        and name not in map(fate_name, asked.controls)
        and name not in ("temperature", "top_k", "top_p", "seed")
    ]
    if lost:
        yield (
            f"under speculation TensorRT-LLM {version} loses what requests ask for by "
            f"{', '.join(sorted(lost))}; those looked at ask for none of it"
        )
