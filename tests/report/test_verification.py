"""A verification becomes a chapter of a report: the verdict first."""

from __future__ import annotations

import pytest

from tests.verify.test_verdict import document, part
from trtspec.errors import UsageError
from trtspec.report.build import build_document
from trtspec.report.html import to_html
from trtspec.report.load import load_all
from trtspec.report.markdown import to_markdown
from trtspec.report.verification import is_verification, load_verification
from trtspec.verify.verdict import Skipped

SKIPPED = (Skipped(name="gate", why="name what the server is started with"),)


def written(path, *parts):
    made = document(*parts, skipped=SKIPPED)
    path.write_text(made.model_dump_json(by_alias=True, indent=2))
    return path


@pytest.fixture
def file(tmp_path):
    return written(tmp_path / "verdict.json", part())


def markdown(*paths):
    return to_markdown(build_document(load_all(paths, ())))


def test_the_verdict_comes_first_and_every_test_is_named(file):
    text = markdown(file)
    assert text.startswith("# toy\n")
    assert text.index("pass: no sign") < text.index("Greedy parity: pass")
    assert "| greedy parity | pass | 1.5 |" in text
    assert "| lossless gate | not run |" in text
    assert "name what the server is started with" in text
    assert "a line" in text


def test_a_failure_is_a_warning_with_its_reason(tmp_path):
    failed = written(tmp_path / "verdict.json", part(gap=3.1))
    text = markdown(failed)
    assert "**Warning:** fail: the output is not the target's own" in text
    assert "Greedy parity: fail" in text
    for reason in part(gap=3.1).reasons:
        assert reason in text


def test_the_page_has_it_too(file):
    page = to_html(build_document(load_all([file], ())))
    assert "Whether speculation left the output alone" in page
    assert "pass: no sign" in page


def test_other_files_are_no_verifications(tmp_path, file):
    assert is_verification(file)
    assert not is_verification(tmp_path)
    assert not is_verification(tmp_path / "nothing.json")
    other = tmp_path / "other.json"
    other.write_text('{"schema": "trtspec/bench/v2"}')
    assert not is_verification(other)


def test_a_damaged_document_is_named(file):
    file.write_text(file.read_text().replace('"verdict": "pass"', '"verdict": "yes"'))
    with pytest.raises(UsageError, match="no document of trtspec verify") as error:
        load_verification(file)
    assert error.value.problems[0].where == str(file)


def test_two_verifications_are_two_chapters(tmp_path, file):
    second = written(tmp_path / "second.json", part(gap=3.1))
    text = markdown(file, second)
    assert text.count("Whether speculation left the output alone") == 2
