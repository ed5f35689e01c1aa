"""Whatever a file holds, it is moved, blocked or asked about; nothing falls over."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trtspec.errors import UsageError
from trtspec.trtllm.facts.families import FAMILIES, newest_of
from trtspec.trtllm.facts.llm_args import all_keys, arg_classes
from trtspec.trtllm.migrate.document import render
from trtspec.trtllm.migrate.vendor import migrate_vendor

STALE = ["use_sa_spec", "sa_spec_threshold", "pytorch_weights_path", "max_batch_size"]
FLAT = ["pytorch_backend_config", "use_cuda_graph", "kv_cache_dtype", "moe_backend"]
NAMES = {name: [key.name for key in all_keys(name)] for name in arg_classes()}
TOP = st.sampled_from([*NAMES["TorchLlmArgs"], *FLAT, "use_torch_sampler"])
IN_SPEC = st.sampled_from(
    sorted({*STALE, *(key for name in NAMES for key in NAMES[name])})
)
TYPES = ["Eagle", "Eagle3", "MTP", "NGram", "Draft_Target", "SA", "AUTO", "Medusa", "?"]
SCALARS = st.none() | st.booleans() | st.integers(-3, 300) | st.floats(0, 9)
WORDS = st.sampled_from(["4", "true", "on", "1, 2", "auto", "org/model", ""])
MAPS = st.dictionaries(st.integers(0, 90), st.integers(-1, 6), max_size=4)
NESTED = st.dictionaries(IN_SPEC, SCALARS | WORDS, max_size=3)
VALUES = SCALARS | WORDS | MAPS | NESTED | st.lists(st.integers(0, 9), max_size=3)
SPECS = st.builds(
    lambda kind, more: {"decoding_type": kind, **more},
    st.sampled_from(TYPES),
    st.dictionaries(IN_SPEC, VALUES, max_size=6),
)
FILES = st.builds(
    lambda top, spec: {**top, "speculative_config": spec},
    st.dictionaries(TOP, VALUES, max_size=4),
    SPECS,
)


@pytest.mark.parametrize("target", FAMILIES)
@settings(max_examples=80, deadline=None)
@given(values=FILES, source=st.sampled_from([None, *FAMILIES]))
def test_any_file_is_moved_blocked_or_asked_about(target, values, source):
    before = repr(values)
    asked = None
    try:
        moved = migrate_vendor(values, newest_of(target), source)
    except UsageError as error:
        asked = error.problems[0].where
    if asked is not None:
        assert (source, asked) == (None, "--from")
    else:
        assert all(change.reason for change in moved.changes)
        assert render(moved.values, moved.changes, ()) is not None
    assert repr(values) == before, "what was read is not changed"
