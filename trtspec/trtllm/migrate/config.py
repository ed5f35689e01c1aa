"""What a step of a migration looks at: the file so far, from where to where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.recipe.yaml_lines import Key, KeyPath
from trtspec.trtllm.facts.families import Family
from trtspec.trtllm.facts.llm_args import BASE, keys
from trtspec.trtllm.migrate.methods import class_name, method_of
from trtspec.trtllm.pytorch.compile.driven import ONE_MODEL_FLAG, Drafting
from trtspec.trtllm.pytorch.compile.known import knows

SPEC = "speculative_config"
EARLY: tuple[Family, ...] = ("1.0", "1.1", "1.2")
"""Families that run some drafters as a second engine."""
DEFAULT_BATCH = 2048
"""``max_batch_size`` where the YAML has none (tensorrt_llm/llmapi/llm_args.py)."""
DRIVEN_ONLY = (
    "draft_len_schedule",
    "max_concurrency",
    "acceptance_length_threshold",
    "acceptance_rate_threshold",
)
"""Keys that only a driven drafter follows up to 1.2, and what main calls them."""


@dataclass(frozen=True, slots=True)
class Config:
    """The values of a vendor's YAML on their way to another version.

    :param values: what the steps before have left.
    :param source: family that the file was written for.
    :param version: version that it is to become one for.
    :param family: that version's family.
    :param written_for: version that the file was written for, if that is known.
    """

    values: dict[Key, Any]
    source: Family
    version: Version
    family: Family
    written_for: Version | None = None

    @property
    def spec(self) -> dict[str, Any]:
        """The map ``speculative_config``; empty if there is none."""
        value = self.values.get(SPEC)
        return value if isinstance(value, dict) else {}

    @property
    def method(self) -> str:
        """What ``decoding_type`` means, as ``methods`` names it; empty if unknown."""
        return method_of(self.spec.get("decoding_type"))

    @property
    def class_name(self) -> str | None:
        """The class of ``speculative_config`` in the target version."""
        return class_name(self.method, self.version)

    @property
    def largest_batch(self) -> int:
        """Requests that run at once at most."""
        value = self.values.get("max_batch_size")
        return count_of(value) or DEFAULT_BATCH

    @property
    def draft_length(self) -> int | None:
        """Tokens drafted per step at most; None if the file does not say."""
        if self.method == "mtp" and self.family in EARLY:
            value = self.spec.get("num_nextn_predict_layers")
        else:
            value = self.spec.get("max_draft_len")
        return count_of(value)

    @property
    def length_key(self) -> str:
        """The file's own key for it."""
        heads = self.method == "mtp" and self.source in EARLY
        return "num_nextn_predict_layers" if heads else "max_draft_len"

    @property
    def meant(self) -> Drafting:
        """How the drafter is driven where the file comes from.

        A key that came with 1.1 or 1.2 is read as those read it, whatever the source.
        """
        family: Family = "main" if self.source == "main" else "1.2"
        return self._drafting(family, two_models=self.asks_for_two)

    @property
    def becomes(self) -> Drafting:
        """How the drafter is driven in the result."""
        asked = self.source in EARLY and self.asks_for_two
        flag = ONE_MODEL_FLAG.get(self.method)
        possible = flag is not None and self.has(flag)
        return self._drafting(
            self.family, two_models=possible and (asked or self.needs_two)
        )

    @property
    def asks_for_two(self) -> bool:
        """Whether the file asks for drafter and target as two models."""
        flag = ONE_MODEL_FLAG.get(self.method)
        return flag is not None and self.spec.get(flag) is False

    @property
    def needs_two(self) -> bool:
        """Whether the result needs two models to mean what a file for main says."""
        follows = any(self.spec.get(key) is not None for key in DRIVEN_ONLY)
        return self.method == "eagle3" and self.source == "main" and follows

    def _drafting(self, family: Family, *, two_models: bool) -> Drafting:
        return Drafting(
            self.method,
            family,
            two_models=two_models and family in EARLY,
            vanilla=self.spec.get("use_mtp_vanilla") is True,
            dynamic_tree=self.spec.get("use_dynamic_tree") is True,
        )

    def at(self, key: str) -> KeyPath:
        """Give the path of a key of ``speculative_config``."""
        return (SPEC, key)

    def has(self, key: str) -> bool:
        """Whether the target version has a key, on its way out or not."""
        return key in keys(self.class_name or BASE, self.version)

    def knows(self, key: str) -> bool:
        """Whether the target version has a key and does not want it gone."""
        return knows(key, self.class_name or BASE, self.version)


def count_of(value: object) -> int | None:
    """Give a whole number above 0; None for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None
