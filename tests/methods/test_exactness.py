"""Exactness: what each method does to the output, per backend and version."""

import pytest
from packaging.version import Version

from tests.methods.samples import SMALLEST, made
from trtspec.methods import Exactness, lossy_reason

BACKENDS = ["reference", "tensorrt", "pytorch"]
UNKNOWN = "is not established"
TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.1}
RESAMPLED = "comes out with p(2-p)"
THRESHOLD = "above an entropy threshold"

# method, further keys, backend → a part of the reason when greedy, when sampled;
# empty: the output is the target's own
TABLE = [
    ("none", {}, "reference", "", ""),
    ("none", {}, "tensorrt", "", ""),
    ("none", {}, "pytorch", "", ""),
    ("ngram", {}, "reference", "", ""),
    ("ngram", {}, "tensorrt", "", RESAMPLED),
    ("ngram", {}, "pytorch", UNKNOWN, UNKNOWN),
    ("draft_target", {}, "reference", "", ""),
    ("draft_target", {}, "tensorrt", "", RESAMPLED),
    ("draft_target", {}, "pytorch", UNKNOWN, UNKNOWN),
    ("draft_target", {"use_draft_logits": True}, "reference", "", ""),
    ("draft_target", {"use_draft_logits": True}, "tensorrt", "", ""),
    ("draft_target", {"use_draft_logits": True}, "pytorch", UNKNOWN, UNKNOWN),
    ("medusa", {}, "reference", UNKNOWN, UNKNOWN),
    ("medusa", {}, "tensorrt", "", "ignores temperature and top-p"),
    ("medusa", {}, "pytorch", UNKNOWN, UNKNOWN),
    ("eagle", {}, "reference", UNKNOWN, UNKNOWN),
    ("eagle", {}, "tensorrt", "", "EAGLE decodes greedily"),
    ("eagle", {}, "pytorch", UNKNOWN, UNKNOWN),
    ("eagle", TYPICAL, "reference", UNKNOWN, UNKNOWN),
    ("eagle", TYPICAL, "tensorrt", THRESHOLD, THRESHOLD),
    ("eagle", TYPICAL, "pytorch", UNKNOWN, UNKNOWN),
    ("redrafter", {}, "reference", UNKNOWN, UNKNOWN),
    ("redrafter", {}, "tensorrt", "", "ignores sampling parameters"),
    ("redrafter", {}, "pytorch", UNKNOWN, UNKNOWN),
    ("redrafter", {"greedy_search": False}, "reference", UNKNOWN, UNKNOWN),
    ("redrafter", {"greedy_search": False}, "tensorrt", "best of", "best of"),
    ("redrafter", {"greedy_search": False}, "pytorch", UNKNOWN, UNKNOWN),
    ("lookahead", {}, "reference", UNKNOWN, UNKNOWN),
    ("lookahead", {}, "tensorrt", "", "decodes greedily whatever is asked"),
    ("lookahead", {}, "pytorch", UNKNOWN, UNKNOWN),
]


def test_table_has_every_method_on_every_backend():
    pairs = {(method, backend) for method, _, backend, _, _ in TABLE}
    assert pairs == {(method, backend) for method in SMALLEST for backend in BACKENDS}


@pytest.mark.parametrize("version", [None, Version("0.17.0"), Version("1.3.0rc20")])
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} {row[1]} {row[2]}")
def test_reason_why_output_is_lossy(row, version):
    method, keys, backend, greedy, sampled = row
    speculation = made(method, **keys)
    for reason, is_sampled in [(greedy, False), (sampled, True)]:
        said = lossy_reason(speculation, backend, version, sampled=is_sampled)
        assert reason in said
        assert bool(said) == bool(reason)


def test_reason_names_method_and_backend_without_an_entry():
    reason = lossy_reason(made("medusa"), "reference", None, sampled=False)
    assert reason == (
        "with medusa on backend reference whether it keeps the target's distribution "
        "is not established"
    )


@pytest.mark.parametrize("method", list(SMALLEST))
def test_every_entry_names_its_source(method):
    entries = list(made(method).exactness())
    assert entries
    assert all(entry.source for entry in entries)


@pytest.mark.parametrize(
    ("versions", "version", "covered"),
    [
        ("", None, True),
        ("", "1.0", True),
        (">=1.0", None, True),
        (">=1.0", "1.0", True),
        (">=1.0", "0.21", False),
        # release candidates count: people run them
        (">=1.0,<=1.3.0rc20", "1.3.0rc20", True),
        (">=1.0,<=1.3.0rc20", "1.3.0rc21", False),
    ],
)
def test_entry_covers_its_versions(versions, version, covered):
    entry = Exactness("tensorrt", versions)
    assert entry.covers("tensorrt", version and Version(version)) is covered
    assert not entry.covers("reference", version and Version(version))


def test_entry_of_any_backend_covers_each():
    assert all(Exactness("*").covers(backend, None) for backend in BACKENDS)


@pytest.mark.parametrize("method", [m for m in SMALLEST if m != "none"])
def test_lossy_output_must_be_allowed(method):
    assert not made(method).lossy_allowed
    assert made(method, allow_lossy=True).lossy_allowed
    assert not made(method, allow_lossy=False).lossy_allowed


def test_typical_acceptance_allows_lossy_output_by_itself():
    assert made("eagle", **TYPICAL).lossy_allowed
    assert made("eagle", **TYPICAL, allow_lossy=False).lossy_allowed


def test_lossy_search_of_redrafter_must_be_allowed_too():
    assert not made("redrafter", greedy_search=False).lossy_allowed


def test_plain_decoding_is_never_lossy():
    assert not made("none").lossy_allowed
