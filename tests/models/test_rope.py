"""The rotary encoding is read as transformers 4 and 5 write it."""

import pytest

from trtspec.models.rope import rope_scaling, rope_theta

LLAMA3 = {"rope_type": "llama3", "factor": 8.0}


@pytest.mark.parametrize(
    ("config", "theta"),
    [
        ({}, None),
        ({"rope_theta": 500000.0}, 500000.0),
        ({"rope_theta": 10000}, 10000.0),
        ({"rope_theta": None, "rope_parameters": {"rope_theta": 1e6}}, 1e6),
        ({"rope_parameters": {"full_attention": {"rope_theta": 1e6}}}, None),
        ({"rope_theta": "many"}, None),
        ({"rope_theta": True}, None),
    ],
)
def test_base(config, theta):
    assert rope_theta(config) == theta


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({}, None),
        ({"rope_scaling": None}, None),
        ({"rope_scaling": LLAMA3}, "llama3"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "linear"),
        ({"rope_scaling": {"factor": 2.0}}, "unnamed"),
        ({"rope_scaling": {"rope_type": "default"}}, None),
        ({"rope_parameters": {"rope_theta": 1e4, "rope_type": "default"}}, None),
        ({"rope_parameters": {"rope_theta": 1e4}}, None),
        ({"rope_parameters": {"rope_theta": 1e4, **LLAMA3}}, "llama3"),
        ({"rope_parameters": {"full_attention": LLAMA3}}, "per layer"),
    ],
)
def test_scaling(config, kind):
    assert rope_scaling(config) == kind
