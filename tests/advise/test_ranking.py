"""The order of methods is reasoned: trained with the target first, copying last."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.check.samples import MODEL
from trtspec.advise.drafters import Drafter
from trtspec.advise.ranking import rank, why
from trtspec.advise.target import Target
from trtspec.advise.workload import WorkloadFacts
from trtspec.models.locate import ModelReference

TARGET = Target(
    "./t", ModelReference("directory", "./t", None, Path("t")), MODEL, None, True, {}
)


def workload(copied, answers=3):
    return WorkloadFacts(Path("w"), 3, 100, 100, True, answers, copied)


def drafter(method, parameters, origin="given"):
    info = replace(MODEL, parameters=parameters)
    return Drafter(method, "./d", origin, Path("d"), info=info)


def ranked(*ways, facts=None):
    named = {name: rank(method, d, TARGET, facts) for name, method, d in ways}
    return sorted(named, key=named.__getitem__)


def test_the_order_without_anything_else_known():
    methods = ("ngram", "draft_target", "pard", "medusa", "eagle", "eagle3", "mtp")
    ways = [(method, method, None) for method in methods]
    assert ranked(*ways) == list(reversed(methods))


def test_copying_goes_first_of_what_is_not_trained_where_outputs_repeat_inputs():
    methods = ("eagle3", "medusa", "ngram", "pard", "draft_target")
    ways = [(method, method, None) for method in methods]
    assert ranked(*ways, facts=workload(0.5)) == list(methods)


@pytest.mark.parametrize("facts", [None, workload(0.1), workload(0.9, answers=0)])
def test_it_stays_the_fallback_where_nothing_shows_that_they_do(facts):
    ways = [(method, method, None) for method in ("ngram", "draft_target")]
    assert ranked(*ways, facts=facts) == ["draft_target", "ngram"]


def test_a_draft_model_of_more_than_a_tenth_goes_behind_the_fallback():
    fitting, large = drafter("draft_target", 100_000), drafter("draft_target", 100_001)
    ways = (
        ("fits", "draft_target", fitting),
        ("large", "draft_target", large),
        ("ngram", "ngram", None),
        ("lookahead", "lookahead", None),
    )
    assert ranked(*ways) == ["fits", "ngram", "lookahead", "large"]
    assert any("more than 1/10" in text for text in why(*ways[1][1:], TARGET, None))
    assert "10% of the target's" in " ".join(why(*ways[0][1:], TARGET, None))


def test_what_the_user_has_goes_before_what_documents_name():
    ways = (
        ("given", "medusa", Drafter("medusa", "./m", "given", Path("m"))),
        ("published", "eagle3", Drafter("eagle3", "a/b", "published")),
        ("inside", "mtp", Drafter("mtp", None, "inside")),
    )
    assert ranked(*ways) == ["inside", "given", "published"]


def test_every_way_has_a_reason():
    for method in ("mtp", "eagle3", "dflash", "redrafter", "suffix", "lookahead"):
        assert why(method, None, TARGET, None)[0]
