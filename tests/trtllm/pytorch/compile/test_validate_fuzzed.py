"""No YAML makes the judge fail, whatever stands in it."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.version import Version

from tests.trtllm.pytorch.compile.golden import ROWS, SERVED
from tests.trtllm.pytorch.compile.recipes import VERSIONS
from trtspec.trtllm.facts.llm_args import arg_classes, keys
from trtspec.trtllm.pytorch.compile.validate import faults

NAMES = sorted(
    {
        name
        for kind in arg_classes()
        for version in VERSIONS
        for name in keys(kind, Version(version))
    }
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.floats(allow_nan=True)
    | st.text(max_size=5)
    | st.sampled_from(["Eagle", "Eagle3", "MTP", "NGram", "SA", "DraftTarget"])
)
KEYS = st.sampled_from([*NAMES, "decoding_type"]) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS | st.integers(-1, 9), inner, max_size=3)
        | st.dictionaries(st.integers(-1, 9), st.integers(-1, 9), max_size=3)
    ),
    max_leaves=5,
)
CONFIGS = st.sampled_from(
    [config for _, by in ROWS.values() for config in by.values() if config]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    version=st.sampled_from(VERSIONS),
    config=CONFIGS,
    inside=st.dictionaries(KEYS, VALUES, max_size=4),
    around=st.dictionaries(KEYS, VALUES, max_size=4),
)
def test_every_fault_has_a_place_and_says_what_is_wrong(
    version, config, inside, around
):
    args = {"speculative_config": {**config, **inside}, **SERVED, **around}
    for problem in faults(args, Version(version)):
        assert problem.what
        assert isinstance(problem.where, str)
