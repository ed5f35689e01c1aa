"""Rows, entries and ids of pairs, and the tables and heads of drafters."""

import numpy as np
import pytest

from tests.check.kinds.asking import Place, passes, tells
from tests.models.drafters import write_eagle3, write_medusa
from tests.models.tiny import write_checkpoint
from tests.models.vocabularies import numbered, set_tables, write_model

LIMITS = {"max_input_tokens": 16, "max_total_tokens": 48, "max_batch_size": 2}
PAIR = {"method": "draft_target", "model": "./draft", "draft_length": 4}
PLAIN, SPECIAL = numbered(150), ["<s>", "<e>", "<pad>"]
WARM = {"sampling": {"temperature": 0.8}}


@pytest.fixture
def here(tmp_path):
    """A place of this test's own."""
    return Place(tmp_path)


def pair(here, target, draft, speculation=PAIR, **sections):
    """Check a pair on backend pytorch of 1.2.1; a side is (tokens, added, rows)."""
    for role, layers, (tokens, added, rows) in (
        ("target", 2, target),
        ("draft", 1, draft),
    ):
        write_model(here.root / role, tokens, added, rows=rows, layers=layers)
    sections = {"limits": LIMITS, **sections}
    return here.check(speculation, "1.2.1", target="target", sections=sections)


@pytest.mark.parametrize(
    ("target", "draft", "sections", "told"),
    [
        (
            (PLAIN, SPECIAL, 160),
            ([*PLAIN[:-2], PLAIN[-1], PLAIN[-2]], SPECIAL, 160),
            {},
            ("token-ids", "blocking", "148", "t148", "t149"),
        ),
        (
            (PLAIN, ["<s>", "<user>"], 152),
            (PLAIN, ["<user>", "<s>"], 152),
            {},
            ("token-ids", "blocking", "<user>"),
        ),
        (
            (PLAIN, SPECIAL, 160),
            (PLAIN, SPECIAL, 192),
            WARM,
            ("draft-logits", "warning", "192", "160", "0.8"),
        ),
        (
            (PLAIN, SPECIAL, 153),
            (PLAIN, [*SPECIAL, "<new>"], 160),
            {},
            ("token-entries", "warning", "<new>"),
        ),
        (
            (PLAIN, SPECIAL, 120),
            (PLAIN, SPECIAL, 160),
            {},
            ("tokenizer", "blocking", "153", "120"),
        ),
    ],
    ids=["swapped", "turns", "sampled widths", "a new token", "too few rows"],
)  # fmt: skip
def test_pairs_that_do_not_fit(here, target, draft, sections, told):
    """TensorRT-LLM #2789, #2804; llama.cpp PR 3812; koboldcpp 2325."""
    tells(pair(here, target, draft, **sections), *told)


@pytest.mark.parametrize(
    ("target", "draft"),
    [
        ((PLAIN, SPECIAL, 160), (PLAIN, SPECIAL, 192)),
        ((PLAIN, SPECIAL, 153), (PLAIN, SPECIAL, 153)),
        ((PLAIN, SPECIAL, 256), (PLAIN, SPECIAL[:2], 256)),
    ],
    ids=["padding alone", "no padding", "one entry fewer"],
)
def test_pairs_that_fit(here, target, draft):
    """vLLM 5203, 7252, 10913, PR 42775: they were refused."""
    found = pair(here, target, draft)
    passes(found, "token-ids", "tokenizer", "draft-logits")
    assert not [f for f in found if "mismatch" in f.what + f.why]


EAGLE3 = {"method": "eagle3", "model": "./head", "draft_length": 2}


def headed(here, speculation=EAGLE3, version="1.2.1", **keys):
    """Check a head beside a tiny target of 16 tokens."""
    write_checkpoint(here.root / "target")
    given = {"target": {"model": "./target", "dtype": "float16"}, **keys}
    return here.check(speculation, version, sections={"limits": LIMITS}, **given)


@pytest.mark.parametrize(
    ("offsets", "marked", "told"),
    [
        ([9] * 8, None, ("blocking", "16")),
        ([0, -1, 0, 0, 0, 0, 0, 0], None, ("0",)),
        (
            [0] * 8,
            np.arange(16) >= 8,
            ("marks 8", "0 of them"),
        ),
    ],
    ids=["beyond the target", "one id twice", "tables of two heads"],
)
def test_tables_that_lead_elsewhere(here, offsets, marked, told):
    """speculators PR 358: a slip in conversion, and no error at all."""
    set_tables(write_eagle3(here.root / "head"), offsets, marked)
    found = headed(here)
    (finding, *_) = [f for f in found if f.rule == "draft-vocabulary"]
    assert finding.severity in ("blocking", "warning")
    words = " ".join((finding.severity, finding.what, finding.why, finding.action))
    assert all(word in words for word in told), words


def test_a_table_of_the_first_tokens_is_fine(here):
    marked = np.arange(16) < 8
    set_tables(write_eagle3(here.root / "head"), [0] * 8, marked)
    passes(headed(here), "draft-vocabulary")


@pytest.mark.parametrize(("rows", "fits"), [(12, False), (24, False), (16, True)])
def test_medusa_heads_of_other_rows(here, rows, fits):
    write_medusa(here.root / "head", heads=3, rows=rows)
    method = {"method": "medusa", "model": "./head", "num_heads": 3}
    method["tree"] = [[0], [0, 0], [0, 0, 0]]
    found = headed(here, method, "0.21.0", backend="tensorrt")
    if fits:
        passes(found, "drafter-vocabulary")
    else:
        words = (f"{rows} vocabulary rows", "16")
        tells(found, "drafter-vocabulary", "blocking", *words)
