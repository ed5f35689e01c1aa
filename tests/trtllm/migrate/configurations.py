"""Configurations of a family that every other family can express as far as asked."""

from __future__ import annotations

from hypothesis import strategies as st

from trtspec.trtllm.facts.families import newest_of
from trtspec.trtllm.migrate.methods import spelling

EARLY = ("1.0", "1.1", "1.2")
PAIRS = [
    (source, target)
    for source in ("1.0", "1.1", "1.2", "main")
    for target in ("1.0", "1.1", "1.2", "main")
    if source != target
]
MOST = 128
MODEL = {"1.0": "speculative_model_dir", "1.1": "speculative_model_dir"}
LENGTHS = st.integers(1, 8)


@st.composite
def falling(draw, largest: int) -> dict[int, int]:
    """A map of our meaning: up to so many requests so many tokens, falling."""
    keys = draw(st.lists(st.integers(1, largest), min_size=1, max_size=5, unique=True))
    values = draw(st.lists(LENGTHS, min_size=len(keys), max_size=len(keys)))
    return dict(zip(sorted(keys), sorted(values, reverse=True), strict=True))


def lower(length: dict[int, int], largest: int) -> dict[int, int]:
    """Write a map as 1.2 reads it, by its definition and not by the code tested."""
    at = [value_of(length, batch) for batch in range(1, largest + 1)]
    return {
        batch: k for batch, k in enumerate(at, 1) if batch == 1 or at[batch - 2] != k
    }


def value_of(length: dict[int, int], batch: int) -> int:
    """Read a map as "up to so many requests"."""
    return next((k for key, k in sorted(length.items()) if batch <= key), 0)


def value_by_lower_bounds(bounds: dict[int, int], batch: int) -> int:
    """Read a schedule as 1.2 does: the largest key not above the batch size."""
    return bounds[max(key for key in bounds if key <= batch)]


def in_meaning(values: dict[str, object], family: str) -> dict[str, object]:
    """Write a schedule out as one draft length per batch size, however it is put."""
    spec = dict(values["speculative_config"])
    given = spec.pop("draft_len_schedule", None)
    read = value_of if family == "main" else value_by_lower_bounds
    batches = range(1, values["max_batch_size"] + 1)
    default = spec.get("max_draft_len")
    spec["lengths"] = [read(given, b) if given else default for b in batches]
    return {**values, "speculative_config": spec}


@st.composite
def configurations(draw, source: str, target: str) -> dict[str, object]:
    """A YAML of ``source`` all of which ``target`` can express."""
    spec = draw(st.sampled_from((eagle3, mtp, ngram, draft_target)))(
        draw, source, target
    )
    values: dict[str, object] = {"max_batch_size": draw(st.integers(1, MOST))}
    by_batch = {source, target} == {"1.2", "main"}
    if (
        by_batch
        and spec["decoding_type"] not in ("MTP", "NGram")
        and draw(st.booleans())
    ):
        _schedule(draw, spec, source, values["max_batch_size"])
    elif by_batch and spec["decoding_type"] not in ("MTP", "NGram"):
        _gate(draw, spec, source)
    if source != "1.0" and draw(st.booleans()):
        values["kv_cache_config"] = {"free_gpu_memory_fraction": 0.8}
    values["speculative_config"] = spec
    return values


def _base(draw, source: str, method: str) -> dict[str, object]:
    spec = {"decoding_type": spelling(method, newest_of(source))}
    return {**spec, "max_draft_len": draw(LENGTHS)}


def _sampled(spec: dict[str, object], source: str, target: str) -> None:
    if source == "1.2" and target == "main":
        spec["allow_advanced_sampling"] = True  # else main samples where 1.2 did not


def eagle3(draw, source: str, target: str) -> dict[str, object]:
    spec = _base(draw, source, "eagle3")
    spec[MODEL.get(source, "speculative_model")] = "org/head"
    _sampled(spec, source, target)
    if draw(st.booleans()) and "1.0" not in (source, target):
        spec["eagle3_layers_to_capture"] = [1, 2]
    return spec


def mtp(draw, source: str, target: str) -> dict[str, object]:
    spec = _base(draw, source, "mtp")
    if source in EARLY:
        spec["num_nextn_predict_layers"] = spec.pop("max_draft_len")
    if draw(st.booleans()):
        key = "begin_thinking_phase_token"
        spec[key.upper() if source in ("1.0", "1.1") else key] = 7
    if draw(st.booleans()):
        spec |= {"use_relaxed_acceptance_for_thinking": True, "relaxed_topk": 3}
    _sampled(spec, source, target)
    return spec


def ngram(draw, source: str, target: str) -> dict[str, object]:
    spec = _base(draw, source, "ngram")
    spec["max_matching_ngram_size"] = draw(st.integers(1, 6))
    if draw(st.booleans()):
        spec["is_public_pool"] = draw(st.booleans())
    if "1.0" not in (source, target) and draw(st.booleans()):
        spec["max_concurrency"] = draw(st.integers(1, MOST))
    return spec


def draft_target(draw, source: str, target: str) -> dict[str, object]:
    spec = _base(draw, source, "draft_target")
    spec[MODEL.get(source, "speculative_model")] = "org/small"
    return spec


def _two_models(spec: dict[str, object], source: str) -> None:
    if source == "1.2" and spec["decoding_type"] == "Eagle":
        spec["eagle3_one_model"] = False
        spec.pop("allow_advanced_sampling", None)


def _schedule(draw, spec, source: str, largest) -> None:
    length = draw(falling(largest))
    spec["max_draft_len"] = max(length.values())
    wanted = lower(length, largest) if source == "1.2" else length
    if source == "1.2" and len(wanted) == 1:
        return  # no schedule, and two engines for nothing are not to be had on main
    spec["draft_len_schedule"] = wanted
    _two_models(spec, source)


def _gate(draw, spec, source: str) -> None:
    rate = draw(st.integers(1, 99)) / 100
    if source == "main":
        spec |= {
            "acceptance_rate_window_size": 50,
            "acceptance_rate_threshold": rate,
        }
        return
    length = spec["max_draft_len"]
    tokens = round(draw(st.integers(1, length * 100)) / 100, 2)
    spec |= {"acceptance_window": 50, "acceptance_length_threshold": tokens}
    _two_models(spec, source)
