"""Recipes and keys of another release: what is gone, and what it is called now."""

import pytest
import yaml
from click.testing import CliRunner

from tests.check.kinds.asking import (
    EAGLE,
    EAGLE3,
    LIMITS,
    MEDUSA,
    NEWEST,
    NGRAM,
    PAIR,
    SUFFIX,
    ask,
    bad,
    faults,
    good,
    innocents,
    on_pytorch,
    passes,
    tells,
)
from trtspec.cli.main import cli
from trtspec.errors import BackendUnavailableError, RecipeError

GATE = on_pytorch(acceptance_gate={"window": 100, "min_acceptance_rate": 0.3})
TWO = {**EAGLE3, "two_model": True}


def extra(**keys):
    """Give the recipe's own keys of the LLM API's YAML."""
    return on_pytorch(llm_args=keys)


@faults(
    bad(
        "EAGLE engines on a candidate without the builder",
        ask(EAGLE, "1.3.0rc22", backend="tensorrt"),
        "installation", "blocking", "1.3.0rc22", "1.3.0rc21", "tensorrt_llm==1.2.1",
    ),
    bad(
        "ReDrafter on the newest",
        ask({"method": "redrafter", "model": "./r"}, NEWEST, backend="tensorrt"),
        "installation", "blocking", NEWEST, "removed upstream",
    ),
    bad(
        "Medusa on the backend that never had it",
        ask(MEDUSA, NEWEST),
        "method", "blocking", "medusa", "eagle3",
    ),
    bad(
        "lookahead on the backend that never had it",
        ask({"method": "lookahead"}, "1.2.1"),
        "method", "blocking", "lookahead", "ngram",
    ),
    bad(
        "two models, which ended with 1.2",
        ask(TWO, "1.3.0rc22"),
        "two-model", "blocking", "1.3.0rc22", "delete two_model",
    ),
    bad(
        "the suffix automaton before 1.3",
        ask(SUFFIX, "1.2.1"),
        "method", "blocking", "1.2.1", "suffix", "1.3",
    ),
    bad(
        "a gate before there is one",
        ask(PAIR, "1.1.0", sections=GATE),
        "acceptance-gate", "blocking", "1.1.0", "1.2",
    ),
    bad(
        "EAGLE on engines for a Qwen",
        ask(EAGLE, "1.0.0", backend="tensorrt", target="qwen2"),
        "family", "blocking", "qwen2", "eagle", "llama",
    ),
    bad(
        "a candidate between two families",
        ask(NGRAM, "1.3.0rc15"),
        "installation", "blocking", "1.3.0rc15", "draft_len_schedule",
    ),
    bad(
        "a key from before 1.0",
        ask(EAGLE3, NEWEST, sections=extra(use_cuda_graph=True)),
        "llm-args", "blocking", "use_cuda_graph", "pytorch.cuda_graphs",
    ),
    bad(
        "an old field of weights",
        ask(
            EAGLE3, "1.2.1",
            sections=extra(speculative_config={"pytorch_weights_path": "./eagle3"}),
        ),
        "llm-args", "blocking", "pytorch_weights_path", "speculation.model",
    ),
    bad(
        "fields that the documents teach and no class has",
        ask(EAGLE3, NEWEST, sections=extra(speculative_config={"use_sa_spec": True})),
        "llm-args", "blocking", "use_sa_spec", "suffix_threshold",
    ),
    bad(
        "the backend of the key's own words",
        ask(EAGLE3, NEWEST, sections=extra(backend="tensorrt")),
        "llm-args", "blocking", "backend",
    ),
    bad(
        "the overlap scheduler's switch of the other sense",
        ask(EAGLE3, NEWEST, sections=extra(enable_overlap_scheduler=True)),
        "llm-args", "blocking", "write pytorch.overlap_scheduler",
    ),
    bad(
        "the nest of keys before 1.0",
        ask(
            EAGLE3, NEWEST,
            sections=extra(pytorch_backend_config={"use_cuda_graph": True}),
        ),
        "llm-args", "blocking", "pytorch_backend_config", "trtspec migrate",
    ),
    bad(
        "the engine builder's section",
        ask(EAGLE3, NEWEST, sections=extra(build_config={"max_batch_size": 8})),
        "llm-args", "blocking", "build_config", "limits.max_batch_size",
    ),
)  # fmt: skip
def test_what_is_gone_is_named_with_its_successor(place, asked, told):
    """TensorRT-LLM PRs 15918, 16369, 12905, 17366, 18721, #10396; dynamo PR 2282."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "EAGLE engines on their last release", ask(EAGLE, "1.2.1", backend="tensorrt")
    ),
    good("two models while there are", ask(TWO, "1.2.1"), "two-model"),
    good("the suffix automaton since 1.3", ask(SUFFIX, NEWEST)),
    good(
        "a key that the release has",
        ask(EAGLE3, NEWEST, sections=extra(stream_interval=2)),
        "llm-args",
    ),
)
def test_what_is_still_there_passes(place, asked, rules):
    passes(place.check(**asked), "method", "installation", *rules)


def command(path, content, *arguments):
    """Give a file to a command; gives its error."""
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    asked = [arguments[0], str(path), *arguments[1:]]
    return CliRunner().invoke(cli, asked).exception


def recipe(speculation, **keys):
    target = {"model": "./llama", "dtype": "bfloat16"}
    head = {"schema": "trtspec/v1", "name": "old", "target": target}
    return {**head, "backend": "tensorrt", "speculation": speculation, **keys}


@pytest.mark.parametrize(
    ("speculation", "words"),
    [
        (
            {"method": "mtp", "num_nextn_predict_layers": 3},
            ("num_nextn_predict_layers", "write draft_length"),
        ),
        ({"method": "Draft_Target", "model": "m"}, ("write method: draft_target",)),
        ({"method": "Eagle3", "model": "m", "draft_length": 3}, ("eagle3",)),
        (
            {"method": "eagle3", "model": "m", "max_draft_len": 3},
            ("max_draft_len", "write draft_length"),
        ),
    ],
)
def test_a_releases_own_words_in_a_recipe_are_answered_with_ours(
    tmp_path, speculation, words
):
    path = tmp_path / "recipe.yaml"
    error = command(path, recipe(speculation, backend="pytorch"), "check")
    assert isinstance(error, RecipeError)
    assert all(word in str(error) for word in words), str(error)


@pytest.mark.parametrize("version", ["1.3.0rc22", NEWEST])
def test_plan_refuses_engines_that_are_gone_with_a_recipe_to_copy(place, version):
    path = place.root / "gone.yaml"
    given = recipe(NGRAM, limits=LIMITS)
    error = command(path, given, "plan", "--trtllm", version)
    assert isinstance(error, BackendUnavailableError)
    assert f"TensorRT-LLM {version} has no engine backend" in str(error)
    assert "backend: pytorch" in str(error)


VENDOR = {
    "speculative_config": {
        "decoding_type": "Eagle3",
        "max_draft_len": 3,
        "speculative_model": "./eagle3",
    }
}


def test_a_vendors_file_given_to_check_is_sent_to_migrate(tmp_path):
    error = command(tmp_path / "vendor.yaml", VENDOR, "check", "--trtllm", "1.2.1")
    assert isinstance(error, RecipeError)
    assert "trtspec migrate" in str(error), str(error)
