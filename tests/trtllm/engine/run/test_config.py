"""An engine's own drafter is configured in the executor's words."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import recipe
from tests.trtllm.engine.run.fakes import FakeBindings
from trtspec.errors import RunError
from trtspec.trtllm.engine.run.bindings import Bindings
from trtspec.trtllm.engine.run.config import decoding_config


def decoding(method, version="1.2.1", **options):
    bindings = Bindings(FakeBindings(version), Version(version))
    made = decoding_config(bindings, recipe(method, **options).speculation)
    return made and made.arguments


@pytest.mark.parametrize("method", ["none", "ngram", "draft_target", "redrafter"])
def test_engines_with_nothing_to_decide_get_no_decoding_config(method):
    assert decoding(method) is None


def test_medusa_gets_its_tree():
    assert decoding("medusa") == {
        "decoding_mode": "Medusa",
        "medusa_choices": [[0], [0, 0], [1]],
    }


def test_a_named_tree_is_spelt_out():
    tree = {"tree": "mc_sim_7b_63", "num_heads": 4}
    assert len(decoding("medusa", **tree)["medusa_choices"]) == 63


def test_eagle_1_gets_its_tree_and_is_greedy():
    config = decoding("eagle", "0.17.0")
    assert config["decoding_mode"] == "Eagle"
    assert config["eagle_config"].arguments == {
        "greedy_sampling": True,
        "eagle_choices": [[0], [0, 0], [1]],
    }


def test_eagle_2_gets_its_top_k_and_no_tree():
    config = decoding("eagle", tree="dynamic", dynamic_top_k=3)
    assert config["eagle_config"].arguments == {
        "greedy_sampling": True,
        "use_dynamic_tree": True,
        "dynamic_tree_max_topK": 3,
    }


def test_a_field_that_the_version_lacks_is_never_passed():
    with pytest.raises(RunError, match="use_dynamic_tree, dynamic_tree_max_topK"):
        decoding("eagle", "0.17.0", tree="dynamic", dynamic_top_k=3)


def test_typical_acceptance_gets_its_threshold():
    config = decoding("eagle", acceptance="typical", posterior_threshold=0.09)
    arguments = config["eagle_config"].arguments
    assert arguments["greedy_sampling"] is False
    assert arguments["posterior_threshold"] == 0.09


def test_lookahead_gets_its_sizes():
    config = decoding("lookahead")
    assert config["decoding_mode"] == "Lookahead"
    assert config["lookahead_decoding_config"].arguments == {
        "max_window_size": 3,
        "max_ngram_size": 3,
        "max_verification_set_size": 3,
    }
