"""Toy drafters of every method, by name: what the matrix of exactness runs over.

A factory takes the target model, the number of slots and options, and gives a drafter
and the method that it drafts for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from torch import nn


@dataclass(frozen=True)
class Toy:
    """A factory in one of this package's modules.

    :param place: ``module:factory``, imported when the drafter is made.
    """

    place: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def make(self, target: nn.Module, slots: int) -> Any:
        """Give drafter and method for ``target``."""
        module, _, name = self.place.partition(":")
        factory = getattr(import_module(f"{__name__}.{module}"), name)
        return factory(target, slots=slots, **self.options)


TOYS = {
    "none": Toy("untrained:none"),
    "ngram": Toy("untrained:ngram"),
    "ngram, by running requests": Toy(
        "untrained:ngram", {"draft_length": {1: 5, 2: 2, 64: 3}}
    ),
    "draft_target": Toy("untrained:draft_target"),
    "draft_target, by running requests": Toy(
        "untrained:draft_target", {"draft_length": {1: 4, 2: 1, 64: 2}}
    ),
    "tree drawn without replacement": Toy(
        "bigram:bigram", {"kind": "without replacement"}
    ),
    "tree drawn with replacement": Toy("bigram:bigram", {"kind": "with replacement"}),
    "tree of top-k candidates": Toy("bigram:bigram", {"kind": "top-k"}),
    "suffix": Toy("suffix:suffix"),
    "suffix with a pool": Toy("suffix:suffix_pool"),
    "suffix over draft_target": Toy("suffix:suffix_over_draft_target"),
    "medusa": Toy("medusa:medusa_static"),
    "medusa with the target's LM head": Toy("medusa:medusa_shared_lm_head"),
    "eagle, fixed tree": Toy("eagle:toy_eagle"),
    "eagle, dynamic tree": Toy("eagle:toy_eagle_dynamic"),
    "eagle3, chain": Toy("eagle:toy_eagle3"),
    "eagle3, by running requests": Toy(
        "eagle:toy_eagle3", {"draft_length": {1: 4, 2: 1, 64: 2}}
    ),
    "eagle3, fixed tree": Toy("eagle:toy_eagle3_static"),
    "eagle3, dynamic tree": Toy("eagle:toy_eagle3_dynamic"),
    "eagle3, reduced vocabulary": Toy("eagle:toy_eagle3_reduced"),
    "eagle3, another width": Toy("eagle:toy_eagle3_of_other_width"),
    "mtp, one head repeated": Toy("mtp:toy_mtp_repeated"),
    "mtp, several heads": Toy("mtp:toy_mtp_several"),
    "mtp, dynamic tree": Toy("mtp:toy_mtp_dynamic"),
    "lookahead": Toy("lookahead:lookahead"),
    "redrafter": Toy("redrafter:redrafter"),
    "pard": Toy("pard:toy_pard"),
    "dflash": Toy("dflash:toy_dflash"),
    "user": Toy("user:user"),
}
"""Name → the toy of a method, or of one kind of trees that the method has."""
