"""Who follows the keys that look at the batch, or at what was accepted."""

from __future__ import annotations

import pytest
from packaging.version import Version

from trtspec.trtllm.facts.llm_args import speculation_classes
from trtspec.trtllm.pytorch.compile.driven import METHOD_OF_CLASS, drafting_of

OFF = {"eagle3_one_model": False, "mtp_eagle_one_model": False}
QUESTIONS = ("is_driven", "follows_max_concurrency", "follows_schedule", "gate_counts")
FAMILIES = ("1.0.0", "1.1.0", "1.2.1", "1.4.0rc4")


def answers(question: str, kind: str, **keys: object) -> str:
    """One letter per family: y or n, - where the method is not there."""
    found = (drafting_of({"decoding_type": kind, **keys}, Version(v)) for v in FAMILIES)
    return "".join("-" if d is None else "ny"[getattr(d, question)] for d in found)


def test_every_class_is_known():
    assert METHOD_OF_CLASS.keys() == set(speculation_classes())


@pytest.mark.parametrize(
    ("kind", "keys", "expected"),
    [
        ("Eagle", {}, ("nnnn", "nnny", "nnny", "nnny")),
        ("Eagle", OFF, ("yyyn", "nyyy", "nnyy", "nnyy")),
        ("Eagle", {"use_dynamic_tree": True}, ("nnnn", "nnnn", "nnnn", "nnny")),
        ("MTP", {}, ("nnnn", "nnny", "nnny", "nnny")),
        ("MTP", OFF, ("nyyn", "nyyy", "nnyy", "nnyy")),
        ("MTP", {**OFF, "use_mtp_vanilla": True}, ("nnnn", "nnny", "nnny", "nnny")),
        ("DraftTarget", {}, ("yyy-", "nyy-", "nny-", "nny-")),
        ("Draft_Target", {}, ("---n", "---y", "---y", "---y")),
        ("NGram", {}, ("yyyy", "nyyy", "nnyn", "nnyn")),
        ("UserProvided", {}, ("yyy-", "nyy-", "nny-", "nny-")),
        ("User_Provided", {}, ("---y", "---y", "---n", "---n")),
        ("AUTO", {}, ("yyyy", "nnnn", "nnnn", "nnnn")),
        ("SA", {}, ("---n", "---y", "---y", "---y")),
        ("PARD", {}, ("---n", "---y", "---y", "---y")),
        ("DFlash", {}, ("---n", "---y", "---y", "---y")),
        ("DSpark", {}, ("---n", "---n", "---n", "---y")),
        ("SaveState", {}, ("--nn", "--nn", "--nn", "--nn")),
        ("no such", {}, ("----", "----", "----", "----")),
    ],
)
def test_what_a_drafter_follows_by_release(kind, keys, expected):
    assert tuple(answers(each, kind, **keys) for each in QUESTIONS) == expected


def test_a_class_stands_for_a_type_that_is_missing():
    found = drafting_of({}, Version("1.2.1"), "NGramDecodingConfig")
    assert found is not None
    assert found.method == "ngram"
    assert drafting_of({}, Version("1.3.0rc5"), "NGramDecodingConfig") is None
