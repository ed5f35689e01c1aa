"""What a method adds: sampling rules, trees, suffixes, relaxed acceptance."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.methods import Eagle3, EnhancedChain, Mtp, OneModelChain
from trtspec.methods.draft_length import longest_draft
from trtspec.trtllm.pytorch.compile.subject import EARLY, Item, Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark, Setting

LARGEST_REJECTION_TOP_K = 32
"""Children per node up to which p/q rejection is accepted (llm_args.py)."""
_WITHOUT_REJECTION = {
    True: "delete rejection_sampling",
    False: "delete rejection_sampling: drafts are then compared with sampled target "
    "tokens",
}
"""What to do without p/q rejection: up to 1.2, and later."""
_MLA = ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2")
"""Model families with multi-head latent attention."""


def sampling_settings(subject: Subject) -> Iterator[Item]:
    """Give what sampled output needs to follow the target's distribution."""
    if subject.family == "1.2" and subject.shape == "one model":
        yield Setting(
            "allow_advanced_sampling",
            True,
            "else requests that ask for a temperature are decoded greedily",
        )
    method = subject.method
    if not isinstance(method, OneModelChain) or not method.rejection_sampling:
        return
    if why := _why_no_rejection(subject, method):
        yield blocking(
            "rejection-sampling",
            ("speculation", "rejection_sampling"),
            f"rejection_sampling cannot be had on TensorRT-LLM {subject.version}",
            why,
            _WITHOUT_REJECTION[subject.family in EARLY],
            source="tensorrt_llm/llmapi/llm_args.py",
            values={"method": method.method, "version": str(subject.version)},
        )
    else:
        yield Setting(
            "use_rejection_sampling",
            True,
            "accept sampled drafts by p/q: as exact, and more is accepted",
        )


def _why_no_rejection(subject: Subject, method: OneModelChain) -> str:
    if subject.family in EARLY:
        return "the key is one of 1.3 and later"
    if isinstance(method, EnhancedChain) and method.suffix_threshold is not None:
        return "it excludes suffix_threshold"
    top_k = getattr(method, "tree_top_k", None) or 0
    if top_k > LARGEST_REJECTION_TOP_K:
        return f"it takes a tree_top_k of at most {LARGEST_REJECTION_TOP_K}"
    return "" if isinstance(method, Eagle3) else _why_no_other(subject, method)


def _why_no_other(subject: Subject, method: OneModelChain) -> str:
    if isinstance(method, Mtp) and method.acceptance == "relaxed":
        return "it excludes relaxed acceptance"
    if subject.options.guided_decoding != "none":
        return f"with {method.method} it excludes guided decoding"
    return ""


def tree_settings(subject: Subject, class_name: str) -> Iterator[Item]:
    """Give the keys of a draft tree."""
    method = subject.method
    assert isinstance(method, Eagle3 | Mtp), "the methods that have trees"
    if method.tree is None:
        return
    depth = longest_draft(method.draft_length)
    if method.tree != "dynamic":
        yield _no_tree(
            subject,
            "a fixed tree of paths cannot be had on backend pytorch",
            "eagle_choices was never finished there, and is deprecated",
            depth,
        )
    elif subject.family in EARLY or not subject.knows("use_dynamic_tree", class_name):
        yield _no_tree(
            subject,
            f"TensorRT-LLM {subject.version} drafts no dynamic tree",
            "its backend pytorch drafts them from 1.3 on",
            depth,
        )
    else:
        assert method.tree_top_k is not None, "validated"
        yield Setting("use_dynamic_tree", True, "grow a tree by the drafter's scores")
        yield Setting(
            "dynamic_tree_max_topK", method.tree_top_k, "children that a node is given"
        )
        yield Setting(
            "max_total_draft_tokens",
            method.longest_draft,
            "nodes that are verified per step",
        )
        yield from _tree_remarks(subject)


def _no_tree(subject: Subject, what: str, why: str, depth: int) -> Remark:
    action = f"delete tree, to draft a chain of {depth}"
    if subject.family in EARLY and getattr(subject.method, "tree", None) == "dynamic":
        action += "; or take 1.3.0rc22 or later"
    if subject.family == "main" and subject.method.method == "eagle3":
        action += "; or write tree: dynamic with tree_top_k"
    values = {"depth": depth, "version": str(subject.version)}
    key = ("speculation", "tree")
    return blocking("tree", key, what, why, action, values=values)


def _tree_remarks(subject: Subject) -> Iterator[Remark]:
    target = subject.target
    if target is None or not isinstance(subject.method, Eagle3):
        return
    sliding = target.sliding_window is not None
    if sliding or target.family in _MLA:
        kind = "sliding-window" if sliding else "multi-head latent"
        yield Remark(
            "tree",
            "warning",
            ("speculation", "tree"),
            f"the target has {kind} attention, for which dynamic trees are documented "
            "as unsupported",
            "docs/source/features/speculative-decoding.md of TensorRT-LLM",
            "delete tree, to draft a chain",
            source="docs/source/features/speculative-decoding.md",
            values={"family": target.family, "sliding_window": target.sliding_window},
        )


def suffix_settings(subject: Subject) -> Iterator[Item]:
    """Give the suffix automaton that may overrule a neural drafter."""
    method = subject.method
    assert isinstance(method, EnhancedChain), "the methods that have one"
    if method.suffix_threshold is None:
        return
    if subject.family in EARLY:
        yield blocking(
            "suffix",
            ("speculation", "suffix_threshold"),
            f"TensorRT-LLM {subject.version} has no suffix automaton",
            "sa_config came with 1.3",
            "delete suffix_threshold",
        )
        return
    threshold = Setting(
        "threshold",
        method.suffix_threshold,
        "shortest match whose continuation replaces the draft",
    )
    yield Setting("sa_config", (threshold,))


def penalty_settings(subject: Subject) -> Iterator[Item]:
    """Give the switch for penalties under speculation."""
    if not subject.options.penalties or subject.shape == "none":
        return
    if subject.knows("enable_penalty") and subject.method.method not in (
        "auto",
        "user",
    ):
        why = "else requests with a penalty are rejected"
        yield Setting("enable_penalty", True, why)
        return
    yield blocking(
        "penalties",
        ("pytorch", "penalties"),
        f"TensorRT-LLM {subject.version} has no penalties with method "
        f"{subject.method.method}",
        "they are not known to reach the drafted tokens",
        "delete pytorch.penalties, or write speculation: {method: none}",
    )


def relaxed_settings(subject: Subject, class_name: str) -> Iterator[Item]:
    """Give relaxed acceptance of MTP, which is lossy."""
    method = subject.method
    assert isinstance(method, Mtp), "the only method that has it"
    if method.acceptance != "relaxed":
        return
    yield Setting(
        "use_relaxed_acceptance_for_thinking",
        True,
        "lossy: takes any likely token while the model thinks",
    )
    yield Setting("relaxed_topk", method.relaxed_top_k, "likeliest tokens it takes")
    yield Setting(
        "relaxed_delta", method.relaxed_delta, "how far below the likeliest they may be"
    )
    if method.thinking_tokens is None:
        return
    upper = subject.knows("BEGIN_THINKING_PHASE_TOKEN", class_name)
    for end, token in zip(("begin", "end"), method.thinking_tokens, strict=True):
        key = f"{end}_thinking_phase_token"
        verb = "begins" if end == "begin" else "ends"
        why = f"token that {verb} the thinking phase"
        yield Setting(key.upper() if upper else key, token, why)
