"""What no prompt could be asked with is refused without a runner."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.fakes import recipe, sampled
from trtspec.errors import UsageError
from trtspec.run import Asked, SamplingParams
from trtspec.trtllm.pytorch.run.early import require_possible

GREEDY = SamplingParams(temperature=0)
RELEASE = Version("1.2.1")


def asked(tokens=None, sampling=GREEDY, **options):
    return Asked(tokens, sampling, **options)


def refused(of, call, version=RELEASE, *, http=False):
    with pytest.raises(UsageError) as caught:
        require_possible(call, "1", of, version, http=http)
    return str(caught.value)


@pytest.mark.parametrize("version", [None, RELEASE])
def test_more_tokens_than_the_limits_have_are_refused_by_the_option(version):
    found = refused(recipe(), asked(60), version)
    assert "--max-tokens: 60 output tokens leave no room" in found
    assert "allowed: up to 59" in found
    require_possible(asked(59), "1", recipe(), version, http=False)


@pytest.mark.parametrize("version", [None, RELEASE])
def test_the_recipe_alone_tells_that_an_engine_always_drafts(version):
    assert "drafts for every" in refused(
        recipe("ngram"), asked(speculate=False), version
    )


def test_a_known_release_decides_controls_and_sampling():
    bad = asked(controls={"bad": ["no"]})
    assert "request 1: bad with eagle3" in refused(recipe("eagle3"), bad)
    assert "trtllm-serve takes no bad" in refused(recipe(), bad, http=True)
    require_possible(bad, "1", recipe(), RELEASE, http=False)
    old, random = Version("1.0.0"), asked(sampling=sampled())
    assert "would be lossy" in refused(recipe("eagle3"), random, old)


@pytest.mark.parametrize("version", [None, Version("1.3.0rc5")])
def test_a_release_that_is_not_known_is_left_to_the_runner(version):
    bad = asked(controls={"bad": ["no"]})
    require_possible(bad, "1", recipe("eagle3"), version, http=False)
