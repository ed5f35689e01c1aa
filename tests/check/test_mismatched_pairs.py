"""Pairs of the kinds that users report, and pairs of our own, get the right verdict.

The reports on vocabulary and tokenizer: TensorRT-LLM 2789, 3615 and 2804; vLLM 5203,
7252, 10913, 13849, 42775 and 38174; llama.cpp 3812; koboldcpp 2325; transformers 33383.
"""

import pytest

from tests.check.samples import DRAFT_TARGET, loaded
from tests.models.tiny import write_gguf
from tests.models.vocabularies import numbered, write_json, write_model
from trtspec.check import check_recipe, is_blocked

PLAIN = numbered(150)
SPECIAL = ["<s>", "<e>", "<pad>"]
LIMITS = {"max_input_tokens": 16, "max_total_tokens": 64}


def findings(folder):
    """Check the pair that was written, and give what is on its tokens."""
    made = loaded(folder, speculation=DRAFT_TARGET, limits=LIMITS)
    found = check_recipe(made, free_memory=1 << 40)
    return [finding for finding in found if finding.rule not in ("draft-size",)]


def rules(folder):
    return {finding.rule: finding.severity for finding in findings(folder)}


PAIRS = {
    # report: (target, draft, rules), a side being (tokens, added, rows)
    "Gemma-2 2B and 27B, one tokenizer (TensorRT-LLM 2804)": (
        (PLAIN, SPECIAL, 256),
        (PLAIN, SPECIAL, 256),
        {},
    ),
    "rows differ alone (vLLM 5203, 7252)": (
        (PLAIN, SPECIAL, 160),
        (PLAIN, SPECIAL, 192),
        {"vocabulary-rows": "note"},
    ),
    "a larger target is padded further (vLLM 10913, 13849)": (
        (PLAIN, SPECIAL, 192),
        (PLAIN, SPECIAL, 160),
        {"vocabulary-rows": "note"},
    ),
    "the draft's tokens end earlier (vLLM 42775)": (
        (PLAIN, SPECIAL, 160),
        (PLAIN, SPECIAL[:2], 160),
        {"token-entries": "note"},
    ),
    "one id maps to another string (llama.cpp 3812)": (
        (PLAIN, SPECIAL, 160),
        ([*PLAIN[:-1], "other"], SPECIAL, 160),
        {"token-ids": "blocking"},
    ),
    "unrelated tokenizers (vLLM 38174, transformers 33383)": (
        (PLAIN, SPECIAL, 160),
        (numbered(120, "u"), SPECIAL, 160),
        {"token-ids": "blocking"},
    ),
    # our own
    "equal size, another order": (
        (PLAIN, (), 150),
        (PLAIN[::-1], (), 150),
        {"token-ids": "blocking"},
    ),
    "start and end token swapped": (
        (PLAIN, ["<s>", "<e>"], 160),
        (PLAIN, ["<e>", "<s>"], 160),
        {"token-ids": "blocking"},
    ),
    "a reserved token got a name": (
        (PLAIN, ["<s>", "<reserved_0>"], 160),
        (PLAIN, ["<s>", "<think>"], 160),
        {"token-names": "note"},
    ),
    "a tool token added without a row of the target's": (
        (PLAIN, SPECIAL, 153),
        (PLAIN, [*SPECIAL, "<tool>"], 160),
        {"token-entries": "warning", "vocabulary-rows": "note"},
    ),
    "all ids moved by one": (
        (PLAIN, (), 160),
        (["<new>", *PLAIN], (), 160),
        {"token-ids": "blocking"},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_gets_the_verdict_that_it_deserves(tmp_path, name):
    target, draft, wanted = PAIRS[name]
    for role, layers, (tokens, added, rows) in (
        ("target", 2, target),
        ("draft", 1, draft),
    ):
        write_model(tmp_path / role, tokens, added, rows=rows, layers=layers)
    assert rules(tmp_path) == wanted
    assert is_blocked(findings(tmp_path)) == ("blocking" in wanted.values())


def test_a_draft_that_spells_its_tokens_otherwise_is_not_refused(tmp_path):
    """As after an update of koboldcpp (2325): the same tokens, of another type."""
    write_model(tmp_path / "target", ["Ġ", "Ġthe", "Ċ", *PLAIN[:13]])
    write_gguf(tmp_path / "draft", tokens=("▁", "▁the", "<0x0A>", *PLAIN[:13]))
    assert rules(tmp_path) == {"token-names": "note"}


def test_a_base_model_that_drafts_for_an_instruct_model_is_pointed_at(tmp_path):
    ends = {"target": ("<|im_end|>", "x"), "draft": ("<|endoftext|>", None)}
    for layers, (role, (end, template)) in zip((2, 1), ends.items(), strict=True):
        added = ["<|endoftext|>", "<|im_end|>"]
        folder = write_model(tmp_path / role, PLAIN, added, layers=layers)
        settings = {"eos_token": end, "chat_template": template}
        write_json(folder, "tokenizer_config.json", **settings)
    assert rules(tmp_path) == {
        "special-tokens": "warning",
        "chat-template-differs": "note",
    }
    assert not is_blocked(findings(tmp_path))


def test_the_same_model_as_its_own_draft_is_only_too_large(tmp_path):
    write_model(tmp_path / "target", PLAIN, SPECIAL)
    speculation = {**DRAFT_TARGET, "model": "./target"}
    made = loaded(tmp_path, speculation=speculation, limits=LIMITS)
    found = check_recipe(made, free_memory=1 << 40)
    assert [finding.rule for finding in found] == ["draft-size"]
