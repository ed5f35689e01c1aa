"""Parameters in words: type, limits, default, and nothing left out."""

import pytest

from trtspec.methods.catalogue import METHODS
from trtspec.methods.parameters import parameters


def parameter(method, name):
    (found,) = (p for p in parameters(METHODS[method]) if p.name == name)
    return found


@pytest.mark.parametrize("method", list(METHODS))
def test_every_field_is_a_parameter_with_its_default(method):
    listed = parameters(METHODS[method])
    fields = METHODS[method].model_fields
    assert {p.name for p in listed} == set(fields) - {"method"}
    for p in listed:
        assert p.required == fields[p.name].is_required()
        assert p.required or p.default == fields[p.name].default
        assert p.type
        assert p.description.endswith(".")


@pytest.mark.parametrize("method", list(METHODS))
def test_what_is_required_comes_first(method):
    required = [p.required for p in parameters(METHODS[method])]
    assert required == sorted(required, reverse=True)


@pytest.mark.parametrize(
    ("method", "name", "of_type", "limits"),
    [
        ("ngram", "draft_length", "whole number or map", "1 to 256"),
        ("ngram", "max_matching_ngram", "whole number", "1 to 16"),
        ("ngram", "acceptance", "exact", ""),
        ("medusa", "num_heads", "whole number", "1 to 32"),
        ("medusa", "num_layers", "whole number", "1 to 16"),
        ("medusa", "tree", "mc_sim_7b_63 or list of paths", "1 to 256 entries"),
        ("medusa", "acceptance", "exact, typical", ""),
        ("medusa", "posterior_threshold", "number", "0 to below 1"),
        ("eagle", "tree", "mc_sim_7b_63, dynamic or list of paths", "1 to 256 entries"),
        ("eagle", "dynamic_top_k", "whole number", "1 to 256"),
        ("eagle3", "suffix_threshold", "whole number", "1 to 1024"),
        (
            "eagle3",
            "layers_to_capture",
            "list of whole numbers",
            "1 to 64 entries, each -1 to 4096",
        ),
        ("mtp", "model", "text", ""),
        ("mtp", "acceptance", "exact, relaxed", ""),
        ("mtp", "relaxed_delta", "number", "0 to 1"),
        (
            "mtp",
            "thinking_tokens",
            "list of whole numbers",
            "2 entries, each 0 to 2147483647",
        ),
        ("mtp", "vanilla", "true or false", ""),
        ("lookahead", "window_size", "whole number", "1 to 256"),
        ("lookahead", "verification_set_size", "whole number", "0 to 256"),
        ("suffix", "max_matching_ngram", "whole number", "1 to 4096"),
        ("user", "drafter", "text", r"matches ^[A-Za-z_][\w.]*:[A-Za-z_]\w*$"),
    ],
)
def test_type_and_limits_are_told_in_words(method, name, of_type, limits):
    found = parameter(method, name)
    assert (found.type, found.limits) == (of_type, limits)


def test_what_may_be_left_out_has_its_default():
    assert parameter("medusa", "num_heads").default == 4
    assert parameter("medusa", "posterior_threshold").default is None
    assert parameter("medusa", "model").required
