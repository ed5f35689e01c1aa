"""What the configuration classes of each version take."""

import importlib

import pytest
from packaging.version import Version

from tests.standins.engines import bench
from tests.standins.executor.classes import ANSWERS, make_classes
from tests.standins.executor.types import matches
from tests.standins.samples import VERSIONS
from trtspec.trtllm import facts


@pytest.mark.parametrize("version", VERSIONS)
def test_every_class_takes_exactly_the_arguments_of_its_version(version):
    classes = make_classes(Version(version))
    assert set(classes) == set(facts.class_names()) - ANSWERS
    for name, kind in classes.items():
        known = facts.fields(name, Version(version))
        for other in {f.name for f in facts.all_fields(name)} - set(known):
            with pytest.raises(TypeError, match=f"no argument is called {other}"):
                kind(**{other: None})
        with pytest.raises(TypeError, match="no argument is called misspelled"):
            kind(misspelled=1)


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("int", 3, 3.0),
        ("int", 3, True),
        ("float", 3, "3"),
        ("bool", True, 1),
        ("Optional[int]", None, "x"),
        ("list[int], not empty", [1], [1.0]),
        ("Optional[list[list[int]]]", [[0], (1, 2)], [[0], 1]),
        ("Optional[float] in (0,1]", 0.5, "0.5"),
        ("Optional", object(), None),
        ("Tensor", None, [1]),
        ("str", "x", b"x"),
    ],
)
def test_types_are_strict(text, right, wrong):
    classes = {}
    if text == "Tensor":
        right = pytest.importorskip("torch").zeros(1)
    assert matches(text, right, classes)
    if text != "Optional":
        assert not matches(text, wrong, classes)


def test_wrong_types_and_missing_arguments_are_refused(session):
    module = session.module
    with pytest.raises(TypeError, match="enable_block_reuse is 1"):
        module.KvCacheConfig(enable_block_reuse=1)
    with pytest.raises(TypeError, match="input_token_ids is missing"):
        module.Request(max_tokens=1)
    with pytest.raises(TypeError, match="by position"):
        module.Request([1], 1, False)
    with pytest.raises(TypeError, match="given twice"):
        module.Request([1], 1, max_tokens=2)
    with pytest.raises(RuntimeError, match="mMaxNewTokens"):
        module.Request([1], 0)
    with pytest.raises(RuntimeError, match="temperature"):
        module.SamplingConfig(temperature=0.0)
    with pytest.raises(AttributeError):
        module.EagleConfig().greedy_sampling = False
    with pytest.raises(AttributeError):
        module.KvCacheConfig().misspelled = 1


def test_settable_fields_are_checked_too(session):
    module = session.module
    config = module.ExecutorConfig()
    config.max_batch_size = 3
    with pytest.raises(TypeError):
        config.max_batch_size = "3"
    with pytest.raises(RuntimeError):
        config.max_batch_size = 0


def test_decoding_config_wants_the_mode_that_goes_with_it(session):
    module = session.module
    mode, choices = module.DecodingMode, [[0]]
    with pytest.raises(RuntimeError, match="decoding_mode is not"):
        module.DecodingConfig(medusa_choices=choices)
    with pytest.raises(RuntimeError, match="decoding mode Lookahead"):
        module.DecodingConfig(mode.Lookahead(), medusa_choices=choices)
    config = module.DecodingConfig()
    config.eagle_config = module.EagleConfig()
    assert config.decoding_mode == mode.Eagle()
    with pytest.raises(RuntimeError, match="must be given with its config"):
        config.decoding_mode = mode.Medusa()


def test_lookahead_tells_its_resources(session):
    config = session.module.LookaheadDecodingConfig(7, 7, 7)
    assert config.calculate_speculative_resource() == (84, 7, 83, 6)
    static = session.module.LookaheadDecodingConfig
    assert static.calculate_speculative_resource_tuple(1, 1, 0)[2] == 0


@pytest.mark.parametrize("version", ["0.17.0", "1.2.1"])
def test_defaults_are_those_of_the_facts(monkeypatch, version):
    bench(version).standin.activate(monkeypatch)
    module = importlib.import_module("tensorrt_llm.bindings.executor")
    config = module.ExecutorConfig()
    assert config.batching_type is module.BatchingType.INFLIGHT
    assert isinstance(config.kv_cache_config, module.KvCacheConfig)
    assert config.max_beam_width == 1
    parallel = module.ParallelConfig()
    assert parallel.communication_mode is module.CommunicationMode.LEADER
