"""Which drafters follow the keys that look at the batch, or at what was accepted.

Up to 1.2 such keys are followed by the object that drives a drafter from outside the
target's engine (tensorrt_llm/_torch/speculative/drafter.py); an engine that holds its
drafter ignores them. The newest releases change the draft length inside the engine
(tensorrt_llm/_torch/speculative/interface.py, support_dynamic_draft_len).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.trtllm.facts.combinations import OUTSIDE
from trtspec.trtllm.facts.families import Family, family_of
from trtspec.trtllm.facts.llm_args import class_of

METHOD_OF_CLASS = {
    "EagleDecodingConfig": "eagle3",
    "Eagle3DecodingConfig": "eagle3",
    "MTPDecodingConfig": "mtp",
    "DraftTargetDecodingConfig": "draft_target",
    "NGramDecodingConfig": "ngram",
    "UserProvidedDecodingConfig": "user",
    "AutoDecodingConfig": "auto",
    "SADecodingConfig": "suffix",
    "PARDDecodingConfig": "pard",
    "DFlashDecodingConfig": "dflash",
    "DSparkDecodingConfig": "dspark",
    "SaveHiddenStatesDecodingConfig": "save_state",
    "MedusaDecodingConfig": "medusa",
    "LookaheadDecodingConfig": "lookahead",
}
"""Class of ``speculative_config`` → method, as recipes name it where they have it."""
ONE_MODEL_FLAG = {"eagle3": "eagle3_one_model", "mtp": "mtp_eagle_one_model"}
"""Method → the key that chooses between one engine and two, up to 1.2."""
BY_BATCH_ON_MAIN = ("eagle3", "mtp", "pard", "dflash", "draft_target", "suffix")
"""Methods whose draft length the newest releases change by the batch (pull request
12262); no dynamic trees among them."""


@dataclass(frozen=True, slots=True)
class Drafting:
    """A method in a family of releases, as far as its drafter's driver depends on it.

    :param method: as in ``METHOD_OF_CLASS``.
    :param two_models: whether two models are asked for, where there is a choice.
    :param vanilla: whether MTP drafts with one head per position.
    :param dynamic_tree: whether a dynamic tree is drafted.
    """

    method: str
    family: Family
    two_models: bool = False
    vanilla: bool = False
    dynamic_tree: bool = False

    @property
    def is_driven(self) -> bool:
        """Whether an object outside the target's engine drives the drafter."""
        if self.method in OUTSIDE:
            return True
        if self.family == "main":
            return False
        if self.method == "mtp":
            return self.two_models and not self.vanilla and self.family != "1.0"
        return self.method == "draft_target" or self._is_eagle3_as_two

    @property
    def _is_eagle3_as_two(self) -> bool:
        return self.method == "eagle3" and self.two_models

    @property
    def follows_max_concurrency(self) -> bool:
        """Whether drafting is left out above ``max_concurrency`` requests.

        AUTO ignores the keys that it inherits; 1.0 does not know this one.
        """
        if self.method == "auto" or self.family == "1.0":
            return False
        return self.is_driven or self.follows_schedule

    @property
    def follows_schedule(self) -> bool:
        """Whether the draft length goes by ``draft_len_schedule``.

        Vanilla MTP does: only a pull request that is still open, 16888, ends that.
        """
        if self.family == "main":
            return self.method in BY_BATCH_ON_MAIN and not self.dynamic_tree
        return self.family == "1.2" and self.is_driven and self.method != "auto"

    @property
    def gate_counts(self) -> bool:
        """Whether an acceptance gate can end speculation.

        1.2 watches driven drafters, the newest releases those inside the engine.
        """
        if self.family == "1.2":
            return self.is_driven and self.method != "auto"
        return self.family == "main" and self.method not in (*OUTSIDE, "save_state")


def drafting_of(
    held: Mapping[str, Any], version: Version, class_name: str | None = None
) -> Drafting | None:
    """Read a ``speculative_config``; None if its method or the version is unknown.

    :param held: the map; its ``decoding_type`` spelled as the version does.
    :param class_name: the map's class, if that is known without ``decoding_type``.
    """
    family = family_of(version)
    name = class_name or class_of(str(held.get("decoding_type")), version)
    if family is None or name not in METHOD_OF_CLASS:
        return None
    method = METHOD_OF_CLASS[name]
    flag = ONE_MODEL_FLAG.get(method)
    return Drafting(
        method,
        family,
        two_models=flag is not None and held.get(flag) is False,
        vanilla=held.get("use_mtp_vanilla") is True,
        dynamic_tree=held.get("use_dynamic_tree") is True,
    )
