"""Which keys of a configuration do not go together, or have no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.trtllm.facts.combinations import OUTSIDE
from trtspec.trtllm.facts.families import Family, family_of
from trtspec.trtllm.facts.llm_args import class_of, keys, runs_on_pytorch
from trtspec.trtllm.pytorch.compile.by_batch_faults import by_batch_faults, is_int
from trtspec.trtllm.pytorch.compile.driven import Drafting, drafting_of
from trtspec.trtllm.pytorch.compile.experts import split_fault
from trtspec.trtllm.pytorch.compile.features import LARGEST_REJECTION_TOP_K
from trtspec.trtllm.pytorch.compile.known import SPECULATION, TYPE
from trtspec.trtllm.pytorch.compile.lengths import HEADS, LENGTH

_MTP = "MTPDecodingConfig"
_GATES = (
    ("acceptance_window", "acceptance_length_threshold"),
    ("acceptance_rate_window_size", "acceptance_rate_threshold"),
)


def conflicts(args: Mapping[str, Any], version: Version) -> Iterator[Problem]:
    """List what is wrong with keys that are right one by one."""
    family = family_of(version)
    assert family is not None, "the caller looked"
    yield from _graphs(args.get("cuda_graph_config"))
    where, fault = split_fault(args)
    if fault:
        yield Problem(fault, where, "a product equal to tensor_parallel_size")
    held = args.get(SPECULATION)
    if not isinstance(held, Mapping):
        return
    if args.get("pipeline_parallel_size", 1) != 1:
        yield Problem("speculation needs 1", "pipeline_parallel_size", "1")
    class_name = class_of(str(held.get(TYPE)), version)
    drafting = drafting_of(held, version)
    if class_name is None or drafting is None:
        return
    yield from _guided(args, held, family)
    for problem in _speculation(args, held, class_name, version, drafting):
        where = f"{SPECULATION}.{problem.where}"
        yield Problem(problem.what, where, problem.allowed, problem.action)


def _graphs(held: object) -> Iterator[Problem]:
    if not isinstance(held, Mapping) or not held.get("batch_sizes"):
        return
    where = "cuda_graph_config.batch_sizes"
    if held.get("max_batch_size"):
        what = "stands beside max_batch_size"
        yield Problem(what, where, "one of the two", "delete max_batch_size")
    given = held["batch_sizes"]
    sizes = [size for size in given if is_int(size)] if _is_list(given) else []
    if sizes != sorted(sizes):
        yield Problem(f"{sizes} is not sorted", where, "ascending batch sizes")


def _guided(
    args: Mapping[str, Any], held: Mapping[str, Any], family: Family
) -> Iterator[Problem]:
    key = "guided_decoding_backend"
    if family == "1.0" and args.get(key):
        what = f"is refused with {held.get(TYPE)}: 1.0 has none with speculation"
        yield Problem(what, key, "", f"delete it, or {SPECULATION}")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)


def _speculation(
    args: Mapping[str, Any],
    held: Mapping[str, Any],
    class_name: str,
    version: Version,
    drafting: Drafting,
) -> Iterator[Problem]:
    family = drafting.family
    yield from _type(class_name, family)
    yield from _length(held, class_name, family)
    if drafting.method == "suffix":
        yield from _suffix(held, args.get("max_batch_size"))
    yield from by_batch_faults(held, drafting)
    yield from _gate(held, class_name, version, drafting)
    yield from _rejection(args, held, drafting)
    yield from _tree(held, drafting)


def _type(class_name: str, family: Family) -> Iterator[Problem]:
    if class_name == "EagleDecodingConfig" and family == "main":
        what = "Eagle is converted to Eagle3 with a warning"
        yield Problem(what, TYPE, "Eagle3", "write Eagle3")
    if not runs_on_pytorch(class_name):
        what = "is a method of TensorRT engines, refused by backend pytorch"
        yield Problem(what, TYPE)


def _length(
    held: Mapping[str, Any], class_name: str, family: Family
) -> Iterator[Problem]:
    if class_name != _MTP or LENGTH not in held:
        return
    if HEADS in held:
        wins = LENGTH if family == "main" else HEADS
        yield Problem(f"stands beside {HEADS}; {wins} wins", LENGTH, "one of the two")
    elif family != "main":
        what = f"has no effect: {HEADS} decides, 1 if it is not given"
        yield Problem(what, LENGTH, "", f"write {HEADS}")


def _suffix(held: Mapping[str, Any], batch: object) -> Iterator[Problem]:
    pooled, pool = held.get("enable_global_pool"), held.get("global_pool_size")
    if pool is not None and not pooled:
        what = "has no effect without enable_global_pool"
        yield Problem(what, "global_pool_size", "", "write enable_global_pool: true")
    elif isinstance(pool, int) and isinstance(batch, int) and pool < batch:
        what = f"is {pool}, which is below max_batch_size {batch}"
        yield Problem(what, "global_pool_size", f"{batch} and more")
    key = "max_matching_ngram_size"
    size = held.get(key, -1)
    if is_int(size) and (size == 0 or (pooled and size > 64)):
        allowed = "-1 (longest) or 1 and more; up to 64 with enable_global_pool"
        yield Problem(f"{size} is refused", key, allowed)


def _gate(
    held: Mapping[str, Any], class_name: str, version: Version, drafting: Drafting
) -> Iterator[Problem]:
    for window, threshold in _GATES:
        given = [key for key in (window, threshold) if held.get(key) is not None]
        if not given or threshold not in keys(class_name, version):
            continue
        if len(given) == 1:
            other = threshold if given[0] == window else window
            yield Problem(f"has no effect without {other}", given[0])
        if not drafting.gate_counts:
            drafters = "outside the" if drafting.family == "1.2" else "inside the"
            what = (
                f"has no effect: the gate watches drafters {drafters} target's engine"
            )
            yield Problem(what, given[0])


def _rejection(
    args: Mapping[str, Any], held: Mapping[str, Any], drafting: Drafting
) -> Iterator[Problem]:
    key = "use_rejection_sampling"
    if not held.get(key):
        return
    if drafting.method in (*OUTSIDE, "suffix"):
        yield Problem(f"is refused with {held.get(TYPE)}", key)
    if held.get("sa_config"):
        yield Problem("is refused together with sa_config", key)
    top_k = held.get("dynamic_tree_max_topK")
    if isinstance(top_k, int) and top_k > LARGEST_REJECTION_TOP_K:
        yield Problem(f"is refused with dynamic_tree_max_topK {top_k}", key)
    if drafting.method == "eagle3":
        return
    if held.get("use_relaxed_acceptance_for_thinking"):
        yield Problem("is refused together with relaxed acceptance", key)
    if args.get("guided_decoding_backend"):
        yield Problem("is refused together with guided_decoding_backend", key)


def _tree(held: Mapping[str, Any], drafting: Drafting) -> Iterator[Problem]:
    if not held.get("use_dynamic_tree"):
        return
    on_main = drafting.method == "mtp" and drafting.family == "main"
    if on_main and held.get(LENGTH) is None:
        yield Problem("a dynamic tree of MTP needs it", LENGTH, "its depth")
    top_k, depth = held.get("dynamic_tree_max_topK"), held.get(LENGTH)
    nodes, where = held.get("max_total_draft_tokens"), "max_total_draft_tokens"
    if top_k is None:
        yield Problem("a dynamic tree needs it", "dynamic_tree_max_topK", "1 and more")
    elif isinstance(top_k, int) and isinstance(depth, int) and isinstance(nodes, int):
        most = top_k * depth
        if not depth <= nodes <= most:
            yield Problem(f"{nodes} is out of range", where, f"{depth} to {most}")
