"""Nothing is passed to a binding that its version is not known to take."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.arguments import ARGUMENTS
from tests.trtllm.engine.run.fakes import FakeBindings
from trtspec.errors import RunError
from trtspec.trtllm import facts
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


@pytest.mark.parametrize(
    "error", [TypeError("incompatible"), RuntimeError("Assertion")]
)
def test_a_refusal_of_the_bindings_names_class_and_version(made, monkeypatch, error):
    def refuse(**arguments):
        raise error

    monkeypatch.setattr(made.module, "KvCacheConfig", refuse, raising=False)
    with pytest.raises(RunError, match=r"^KvCacheConfig of TensorRT-LLM 0.20.0: ") as e:
        made.make("KvCacheConfig", enable_block_reuse=True)
    assert str(error) in str(e.value)


@pytest.mark.parametrize("version", ["0.17.0", "0.18.2", "0.20.0", "1.0.0", "1.2.1"])
def test_the_facts_agree_with_what_was_written_down_here(version):
    for class_name, since in ARGUMENTS.items():
        known = facts.fields(class_name, Version(version))
        there = {n for n, first in since.items() if Version(version) >= Version(first)}
        assert since.keys() & known.keys() == there, class_name
