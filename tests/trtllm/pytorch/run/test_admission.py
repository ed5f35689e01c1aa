"""What the whole engine decides, no request decides; lossy output is refused."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.fakes import ask, recipe, sampled
from trtspec.errors import UsageError
from trtspec.run import SamplingParams
from trtspec.trtllm.pytorch.run.admission import lossy_or_refuse, require_one_arm


def method(name, **options):
    return recipe(name, **options).speculation


def test_an_engine_that_speculates_has_no_off_arm():
    with pytest.raises(UsageError, match=r"\{method: none\}"):
        require_one_arm(ask(speculate=False), method("eagle3"))
    require_one_arm(ask(speculate=False), method("none"))
    require_one_arm(ask(), method("eagle3"))


def test_parameters_of_a_request_are_refused_unless_they_are_the_recipes():
    own = method("eagle3", draft_length=2)
    with pytest.raises(UsageError, match="fixes them for the whole engine"):
        require_one_arm(ask(speculation=own), method("eagle3"))
    require_one_arm(ask(speculation=own), own)


@pytest.mark.parametrize(
    ("name", "version", "lossy"),
    [
        ("none", "1.0.0", False),
        ("eagle3", "1.0.0", True),
        ("eagle3", "1.1.0", True),
        ("eagle3", "1.2.1", False),
        ("ngram", "1.0.0", True),
        ("ngram", "1.2.1", False),
        ("mtp", "1.2.1", True),
        ("mtp", "1.4.0rc4", False),
    ],
)
def test_sampling_is_refused_where_the_release_would_change_it(name, version, lossy):
    request, release = ask(sampling=sampled()), Version(version)
    if not lossy:
        assert lossy_or_refuse(request, method(name), release) == ""
        return
    with pytest.raises(UsageError, match=r"would be lossy[\s\S]*temperature 0"):
        lossy_or_refuse(request, method(name), release)
    allowed = method(name, allow_lossy=True)
    assert lossy_or_refuse(request, allowed, release)
    assert lossy_or_refuse(ask(), method(name), release) == ""


def test_one_token_to_choose_from_is_greedy_and_exact():
    request = ask(sampling=SamplingParams(temperature=1.0, top_k=1))
    assert lossy_or_refuse(request, method("eagle3"), Version("1.0.0")) == ""


def test_relaxed_acceptance_bears_its_reason_in_every_output():
    relaxed = method("mtp", acceptance="relaxed", relaxed_top_k=4, relaxed_delta=0.5)
    assert "relaxed" in lossy_or_refuse(ask(), relaxed, Version("1.2.1"))
