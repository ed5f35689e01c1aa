"""Parts are folded into one document whose form is fixed."""

import json

import pytest
from jsonschema import Draft202012Validator

from tests.verify.arms_fake import FakeScorer, questions, scripted
from trtspec.bench.conditions import Conditions, Hardware
from trtspec.verify.greedy.parity import ParityPlan, greedy_parity
from trtspec.verify.verdict import (
    PARTS,
    SCHEMA,
    Part,
    Skipped,
    Verification,
    fold,
    json_schema,
    sentence_of,
)

HARDWARE = Hardware(
    cpu="c",
    physical_cores=1,
    logical_cores=1,
    usable_cores=1,
    cpu_quota=None,
    memory_bytes=1,
    available_bytes=1,
    load_average=(0.0, 0.0, 0.0),
    busy_cores=0.0,
    gpus=(),
    no_gpus_because=None,
)
CONDITIONS = Conditions(
    hardware=HARDWARE, system="s", python="3", versions={}, environment={}, runner={}
)


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "cannot tell"], "cannot tell"),
        (["cannot tell", "fail", "pass"], "fail"),
        ([], "cannot tell"),
    ],
)
def test_fail_wins_over_cannot_tell_and_that_over_pass(verdicts, word):
    assert fold(verdicts) == word


def figures(gap=0.0):
    ids = {"p0": (1, 2)}
    other = {"p0": (1, 3)} if gap else ids
    arms = scripted("off", ids), scripted("on", other, drafted=3, accepted=1)
    scorer = FakeScorer({2: 20.0, 3: 20.0 - gap})
    return greedy_parity(*arms, ParityPlan(questions=questions()), scorer).record


def part(name="greedy", gap=0.0):
    found = figures(gap)
    return Part(
        name=name,
        verdict=found.verdict,
        summary=("a line",),
        reasons=found.reasons,
        seconds=1.5,
        figures=found,
    )


def document(*parts, skipped=()):
    return Verification(
        name="toy",
        verdict=fold(p.verdict for p in parts),
        sentence=sentence_of(parts, skipped),
        started="2026-01-01T00:00:00+00:00",
        seconds=2.0,
        arms=(),
        prompts=None,
        parts=parts,
        skipped=skipped,
        conditions=CONDITIONS,
    )


@pytest.mark.parametrize(
    ("parts", "code"), [((), 6), ((part(),), 0), ((part(gap=3.1),), 7)]
)
def test_exit_codes(parts, code):
    assert document(*parts).exit_code == code


def test_the_sentence_names_what_a_verdict_rests_on():
    skipped = (Skipped(name="sampled", why="not asked for"),)
    passed = sentence_of((part(),), skipped)
    assert passed.startswith("no sign")
    assert "greedy parity" in passed
    assert passed.endswith("not tested: distribution test")
    failed = sentence_of((part(gap=3.1),), skipped)
    assert failed == "the output is not the target's own: greedy parity"
    assert sentence_of((), skipped) == "nothing was tested"


def test_a_pass_never_claims_what_was_not_tested():
    names = [name for name in PARTS if name != "greedy"]
    skipped = [Skipped(name=name, why="x") for name in names]
    said = sentence_of((part(),), skipped)
    assert "lossless gate" in said
    assert "distribution test" in said
    # what is not needed for the claim is not missed
    assert "soak" not in said


def test_the_document_follows_its_schema_and_survives_json():
    skipped = (Skipped(name="gate", why="not asked for"),)
    made = document(part(), part(gap=3.1), skipped=skipped)
    text = made.model_dump_json(by_alias=True)
    content = json.loads(text)
    assert content["schema"] == SCHEMA == "trtspec/verify/v1"
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(content)
    assert Verification.model_validate_json(text) == made


def test_unknown_keys_are_refused():
    content = json.loads(document(part()).model_dump_json(by_alias=True))
    with pytest.raises(ValueError, match="extra"):
        Verification.model_validate({**content, "speed": 2})


def test_every_field_is_described():
    schema = json_schema()
    for name, entry in {"top": schema, **schema["$defs"]}.items():
        for key, field in entry.get("properties", {}).items():
            assert "description" in field or "$ref" in field, (name, key)
