"""Nothing is passed to a binding that its version is not known to take."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.fakes import FakeBindings
from trtspec.errors import RunError
from trtspec.trtllm.engine.run.bindings import Bindings, load_bindings


@pytest.fixture
def made():
    return Bindings(FakeBindings("0.20.0"), Version("0.20.0"))


def test_known_arguments_arrive(made):
    cache = made.make("KvCacheConfig", enable_block_reuse=True)
    assert cache.arguments == {"enable_block_reuse": True}


def test_an_unknown_argument_is_named(made):
    with pytest.raises(RunError, match=r"KvCacheConfig of TensorRT-LLM 0.20.0 has no"):
        made.make("KvCacheConfig", enable_blok_reuse=True)


def test_an_argument_of_a_later_version_is_named(made):
    with pytest.raises(RunError, match="gather_generation_logits"):
        made.make("ExecutorConfig", gather_generation_logits=True)
    assert not made.has("ExecutorConfig", "gather_generation_logits")
    assert made.has("ExecutorConfig", "parallel_config")


def test_a_missing_argument_is_named(made):
    with pytest.raises(RunError, match="requires argument tokens"):
        made.make("ExternalDraftTokensConfig", logits=None)


def test_the_parent_is_imported_first(bindings):
    assert load_bindings(Version("1.2.1")).module is bindings
