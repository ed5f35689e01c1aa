"""Exactness: what each method does to the output, per backend and version."""

import pytest
from packaging.version import Version

from tests.methods.samples import SMALLEST, made
from trtspec.methods import Exactness, lossy_reason

BACKENDS = ["reference", "tensorrt"]
UNKNOWN = "is not established"
TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.1}
RESAMPLED = "comes out with p(2-p)"
THRESHOLD = "above an entropy threshold"

DYNAMIC = {"tree": "dynamic", "tree_top_k": 2}
EAGLE_2 = {"tree": "dynamic", "dynamic_top_k": 2}
RELAXED = {"acceptance": "relaxed", "relaxed_top_k": 8, "relaxed_delta": 0.5}
ANY = "relaxed acceptance keeps any"

# method, further keys, backend → a part of the reason when greedy, when sampled;
# empty: the output is the target's own
TABLE = [
    ("none", {}, "reference", "", ""),
    ("none", {}, "tensorrt", "", ""),
    ("ngram", {}, "reference", "", ""),
    ("ngram", {}, "tensorrt", "", RESAMPLED),
    ("draft_target", {}, "reference", "", ""),
    ("draft_target", {}, "tensorrt", "", RESAMPLED),
    ("draft_target", {"use_draft_logits": True}, "reference", "", ""),
    ("draft_target", {"use_draft_logits": True}, "tensorrt", "", ""),
    ("medusa", {}, "reference", "", ""),
    ("medusa", {}, "tensorrt", "", "ignores temperature and top-p"),
    ("medusa", TYPICAL, "reference", "", THRESHOLD),
    ("medusa", TYPICAL, "tensorrt", UNKNOWN, UNKNOWN),
    ("eagle", {}, "reference", "", ""),
    ("eagle", {}, "tensorrt", "", "EAGLE decodes greedily"),
    ("eagle", EAGLE_2, "reference", "", ""),
    ("eagle", EAGLE_2, "tensorrt", "", "EAGLE decodes greedily"),
    ("eagle", TYPICAL, "reference", "", THRESHOLD),
    ("eagle", TYPICAL, "tensorrt", THRESHOLD, THRESHOLD),
    ("redrafter", {}, "reference", "", ""),
    ("redrafter", {}, "tensorrt", "", "ignores sampling parameters"),
    ("redrafter", {"greedy_search": False}, "reference", "", ""),
    ("redrafter", {"greedy_search": False}, "tensorrt", "best of", "best of"),
    ("lookahead", {}, "reference", "", ""),
    ("lookahead", {}, "tensorrt", "", "decodes greedily whatever is asked"),
    ("suffix", {}, "reference", "", ""),
    ("suffix", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("eagle3", {}, "reference", "", ""),
    ("eagle3", {"tree": [[0], [1], [0, 0]]}, "reference", "", ""),
    ("eagle3", DYNAMIC, "reference", "", ""),
    ("eagle3", {"draft_length": {8: 4}}, "reference", "", ""),
    ("eagle3", {"two_model": True}, "reference", "", ""),
    ("eagle3", {"suffix_threshold": 4}, "reference", "", ""),
    ("eagle3", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("mtp", {}, "reference", "", ""),
    ("mtp", {"vanilla": True}, "reference", "", ""),
    ("mtp", {"model": "d"}, "reference", "", ""),
    ("mtp", DYNAMIC, "reference", "", ""),
    ("mtp", RELAXED, "reference", ANY, ANY),
    ("mtp", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("pard", {}, "reference", "", ""),
    ("pard", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("dflash", {}, "reference", "", ""),
    ("dflash", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("user", {}, "reference", "", ""),
    ("user", {}, "tensorrt", UNKNOWN, UNKNOWN),
    ("auto", {}, "reference", UNKNOWN, UNKNOWN),
    ("auto", {}, "tensorrt", UNKNOWN, UNKNOWN),
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


PYTORCH_VERSIONS = ["1.0.0", "1.1.0", "1.2.1", "1.3.0rc22", "1.4.0rc4"]
LOST, UNSETTLED = "are ignored", "is not established"
ONE_MODEL = (LOST, LOST, "", "", "")
TWO_MODELS = (LOST, UNSETTLED, "", "", "")
MAIN_ONLY = (UNKNOWN, UNKNOWN, UNKNOWN, "", "")
GREEDY = "greedy decoding only"

# method, further keys → a part of the reason per version, when greedy, when sampled
ON_PYTORCH = [
    ("none", {}, ("",) * 5, ("",) * 5),
    ("ngram", {}, ("",) * 5, TWO_MODELS),
    ("draft_target", {}, ("",) * 5, TWO_MODELS),
    ("user", {}, ("",) * 5, TWO_MODELS),
    ("auto", {}, ("",) * 5, TWO_MODELS),
    ("eagle3", {}, ("",) * 5, ONE_MODEL),
    (
        "eagle3",
        {"two_model": True},
        ("", "", "", UNKNOWN, UNKNOWN),
        (*TWO_MODELS[:3], UNKNOWN, UNKNOWN),
    ),
    ("eagle3", DYNAMIC, MAIN_ONLY, MAIN_ONLY),
    ("eagle3", {"tree": [[0], [1]]}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
    ("eagle3", {"draft_length": {8: 4}}, ("",) * 5, TWO_MODELS),
    (
        "eagle3",
        {"draft_length": {8: 4}, "two_model": False},
        ("",) * 5,
        (LOST, LOST, "", "", ""),
    ),
    ("mtp", {}, ("",) * 5, (LOST, LOST, UNSETTLED, "", "")),
    ("mtp", RELAXED, (ANY,) * 5, (ANY,) * 5),
    ("mtp", {"model": "d"}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
    ("mtp", DYNAMIC, MAIN_ONLY, (UNKNOWN, UNKNOWN, UNKNOWN, GREEDY, GREEDY)),
    ("suffix", {}, MAIN_ONLY, MAIN_ONLY),
    ("pard", {}, MAIN_ONLY, MAIN_ONLY),
    ("dflash", {}, MAIN_ONLY, MAIN_ONLY),
    ("medusa", {}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
    ("eagle", {}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
    ("redrafter", {}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
    ("lookahead", {}, (UNKNOWN,) * 5, (UNKNOWN,) * 5),
]


def test_table_of_backend_pytorch_has_every_method():
    assert {method for method, *_ in ON_PYTORCH} == set(SMALLEST)


@pytest.mark.parametrize("row", ON_PYTORCH, ids=lambda row: f"{row[0]} {row[1]}")
def test_reason_on_each_release_of_backend_pytorch(row):
    method, keys, greedy, sampled = row
    speculation = made(method, **keys)
    for version, *reasons in zip(PYTORCH_VERSIONS, greedy, sampled, strict=True):
        for reason, is_sampled in zip(reasons, (False, True), strict=True):
            said = lossy_reason(
                speculation, "pytorch", Version(version), sampled=is_sampled
            )
            assert reason in said
            assert bool(said) == bool(reason), version


@pytest.mark.parametrize("version", ["1.1.0rc2", "1.2.0rc6", "1.3.0rc7", "1.3.0rc21"])
@pytest.mark.parametrize("method", ["eagle3", "ngram", "mtp"])
def test_nothing_is_established_for_candidates_between_releases(method, version):
    said = lossy_reason(made(method), "pytorch", Version(version), sampled=False)
    assert UNKNOWN in said


def test_unknown_version_is_as_good_as_the_worst():
    said = lossy_reason(made("eagle3"), "pytorch", None, sampled=True)
    assert LOST in said
    assert lossy_reason(made("eagle3"), "pytorch", None, sampled=False) == ""


def test_reason_names_method_and_backend_without_an_entry():
    reason = lossy_reason(made("auto"), "reference", None, sampled=False)
    assert reason == (
        "with auto on backend reference whether it keeps the target's distribution "
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
    assert all(Exactness("*").covers(b, None) for b in [*BACKENDS, "pytorch"])


@pytest.mark.parametrize("method", [m for m in SMALLEST if m != "none"])
def test_lossy_output_must_be_allowed(method):
    assert not made(method).lossy_allowed
    assert made(method, allow_lossy=True).lossy_allowed
    assert not made(method, allow_lossy=False).lossy_allowed


@pytest.mark.parametrize(
    ("method", "keys"), [("eagle", TYPICAL), ("medusa", TYPICAL), ("mtp", RELAXED)]
)
def test_lossy_acceptance_allows_lossy_output_by_itself(method, keys):
    assert made(method, **keys).lossy_allowed
    assert made(method, **keys, allow_lossy=False).lossy_allowed


def test_a_method_is_covered_where_an_entry_is_about_it():
    suffix = made("suffix")
    assert suffix.covered("pytorch", Version("1.4.0rc4"))
    assert not suffix.covered("pytorch", Version("1.2.1"))
    assert suffix.covered("pytorch", None)
    assert not suffix.covered("tensorrt", None)
    assert made("none").covered("anything", Version("0.1"))


def test_lossy_search_of_redrafter_must_be_allowed_too():
    assert not made("redrafter", greedy_search=False).lossy_allowed


def test_plain_decoding_is_never_lossy():
    assert not made("none").lossy_allowed
