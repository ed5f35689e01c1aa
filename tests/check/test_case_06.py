"""Case 6 of the public reports: vocabulary differences that are only padding.

https://github.com/NVIDIA/TensorRT-LLM/issues/2789 and pull request 3615 there;
https://github.com/vllm-project/vllm/issues/7252 and 10913.
"""

import pytest
from packaging.version import Version

from tests.check.samples import loaded
from tests.models.vocabularies import numbered, write_model
from trtspec.check import check_recipe, is_blocked
from trtspec.models.tokenizer import compare_tokenizers
from trtspec.trtllm.engine.rules import engine_rules
from trtspec.trtllm.installation import assumed_for
from trtspec.trtllm.pytorch.build.rules import pytorch_rules

VERSION = "1.2.1"
OURS = ("token-", "vocabulary", "tokenizer", "draft-logits", "special-tokens")


@pytest.fixture(scope="module")
def padded(tmp_path_factory):
    """Case a: 152064 and 151936 rows, byte-identical tokenizers of 151665 entries."""
    folder = tmp_path_factory.mktemp("padded")
    tokens, added = numbered(151_643), numbered(22, "<|special_")
    write_model(folder / "target", tokens, added, rows=152_064)
    write_model(folder / "draft", tokens, added, rows=151_936, layers=1)
    files = [folder / name / "tokenizer.json" for name in ("target", "draft")]
    assert files[0].read_bytes() == files[1].read_bytes()
    return folder


@pytest.fixture(scope="module")
def with_added_tokens(tmp_path_factory):
    """Case b: 128256 rows each; a base size of 128000 and 256 added special tokens."""
    folder = tmp_path_factory.mktemp("added")
    tokens, added = numbered(128_000), numbered(256, "<|reserved_")
    for name, layers in {"target": 2, "draft": 1}.items():
        write_model(folder / name, tokens, added, rows=128_256, layers=layers)
    return folder


def checked(folder, backend, speculation):
    """Check a recipe as ``trtspec check --trtllm`` does; give what is on tokens."""
    installation = assumed_for(VERSION)
    rules = {"tensorrt": engine_rules, "pytorch": pytorch_rules}.get(backend)
    target = {"family": "llama"} if backend == "tensorrt" else {}
    made = loaded(
        folder,
        backend=backend,
        target=target,
        speculation={"model": "./draft", "draft_length": 4, **target, **speculation},
        limits={"max_input_tokens": 16, "max_total_tokens": 64},
    )
    findings = check_recipe(
        made,
        rules=rules(installation) if rules else (),
        version=Version(VERSION) if rules else None,
        free_memory=1 << 40,
    )
    for finding in findings:
        said = f"{finding.what} {finding.why} {finding.action}".lower()
        assert "tokenizer mismatch" not in said
    return [finding for finding in findings if finding.rule.startswith(OURS)]


DRAFT_TARGET = {"method": "draft_target"}
BY_LOGITS = {**DRAFT_TARGET, "use_draft_logits": True}
PARD = {"method": "pard", "mask_token_id": 7}
BY_IDS = pytest.mark.parametrize(
    ("backend", "speculation"),
    [
        ("reference", DRAFT_TARGET),
        ("reference", PARD),
        ("tensorrt", DRAFT_TARGET),
        ("pytorch", DRAFT_TARGET),
    ],
    ids=["reference", "reference pard", "tensorrt", "pytorch"],
)


def test_the_three_verdicts_of_case_a_are_kept_apart(padded):
    verdicts = compare_tokenizers(padded / "target", padded / "draft")
    assert verdicts.rows == (152_064, 151_936)
    assert verdicts.entries == (151_665, 151_665)
    assert verdicts.ids.equal


@BY_IDS
def test_case_a_passes_where_drafts_are_ids(padded, backend, speculation):
    (finding,) = checked(padded, backend, speculation)
    assert (finding.rule, finding.severity) == ("vocabulary-rows", "note")
    assert finding.values == {"target_rows": 152_064, "draft_rows": 151_936}


def test_case_a_blocks_where_drafts_come_with_logits_and_proposes_padding(padded):
    findings = checked(padded, "tensorrt", BY_LOGITS)
    assert is_blocked(findings)
    (finding,) = findings
    assert finding.rule == "draft-logits"
    assert finding.values == {"target_rows": 152_064, "draft_rows": 151_936}
    assert "Path('draft-152064-rows'), 152064" in finding.snippet
    assert "pad the draft model" in finding.action


def test_the_three_verdicts_of_case_b_are_equal(with_added_tokens):
    folder = with_added_tokens
    verdicts = compare_tokenizers(folder / "target", folder / "draft")
    assert verdicts.rows == verdicts.entries == (128_256, 128_256)
    assert verdicts.ids.equal


@BY_IDS
def test_case_b_passes_where_drafts_are_ids(with_added_tokens, backend, speculation):
    assert checked(with_added_tokens, backend, speculation) == []


def test_case_b_passes_where_drafts_come_with_logits(with_added_tokens):
    assert checked(with_added_tokens, "tensorrt", BY_LOGITS) == []
