"""The sampled oracle is a part of the document, and of its schema and its report."""

import json

from jsonschema import Draft202012Validator

from tests.verify.distribution.worlds import WorldArm
from tests.verify.oracle.test_sampled import outcome
from tests.verify.test_verdict import document
from trtspec.report.build import build_document
from trtspec.report.load import load_all
from trtspec.report.markdown import to_markdown
from trtspec.verify.oracle import OracleSampled
from trtspec.verify.oracle.sentences import sampled_oracle_lines
from trtspec.verify.verdict import Part, Verification, json_schema


def part(**arms):
    found = outcome(**arms)
    return Part(
        name="oracle_sampled",
        verdict=found.verdict,
        summary=tuple(sampled_oracle_lines(found)),
        reasons=found.reasons,
        seconds=1.0,
        figures=found,
    )


def test_it_is_read_back_as_what_it_is_and_follows_the_schema():
    made = document(part())
    written = made.model_dump_json(by_alias=True)
    again = Verification.model_validate_json(written)
    assert isinstance(again.parts[0].figures, OracleSampled)
    assert again == made
    Draft202012Validator(json_schema()).validate(json.loads(written))


def test_a_failure_decides_the_verdict_and_is_named():
    made = document(part(on=WorldArm(name="on", fault="forced acceptance")))
    assert made.verdict == "fail"
    assert made.exit_code == 7
    assert made.sentence.endswith("oracle, sampled")


def test_the_report_shows_it(tmp_path):
    path = tmp_path / "verdict.json"
    path.write_text(document(part()).model_dump_json(by_alias=True, indent=2))
    text = to_markdown(build_document(load_all([path], ())))
    assert "Oracle, sampled: pass" in text
    assert "behind 6 texts: 3 tokens of each answer" in text
