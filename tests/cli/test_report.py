"""``trtspec report`` from the command line: what it writes, and its exit codes."""

from __future__ import annotations

import json

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from tests.report.pages import Page
from tests.report.tuning.made import RUN as TUNING_RUN
from tests.report.tuning.made import write_tuning
from tests.tune.made_result import confirmed as tuned
from trtspec.cli.main import _run

MADE = Made(
    name="toy",
    arms={"on": Drafting(4, 0.0, 0.0001)},
    loads=LOADS[:2],
    prompts=8,
    repeats=3,
    seed=3,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("report") / "20261130T124406Z-toy", MADE)


def report(*arguments):
    return _run(["report", *map(str, arguments)])


def test_markdown_goes_to_stdout(run, capsys):
    assert report(run) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("# toy\n")
    assert "## Verdict" in shown.out
    assert shown.err == ""


def test_the_result_in_a_run_may_be_named(run, capsys):
    assert report(run / "result.json") == 0
    assert capsys.readouterr().out.startswith("# toy\n")


def test_files_are_written_and_named(run, tmp_path, capsys):
    page, text = tmp_path / "new" / "r.html", tmp_path / "r.md"
    assert report(run, "--html", page, "--markdown", text) == 0
    assert capsys.readouterr().out == f"written: {page}\nwritten: {text}\n"
    assert Page(page.read_text(encoding="utf-8")).problems == []
    assert text.read_text(encoding="utf-8").startswith("# toy\n")


def test_json_is_one_document_with_the_verdicts(run, tmp_path, capsys):
    page = tmp_path / "r.html"
    assert report(run, "--json", "--html", page) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["html"] == str(page)
    assert told["markdown"] is None
    (first,) = told["runs"]
    assert (first["name"], first["partial"]) == ("toy", False)
    assert [cell["load"] for cell in first["cells"]] == ["c1", "c4"]
    on = first["cells"][0]["candidates"]["on"]
    assert on["verdict"] in ("faster", "slower", "no difference", "no claim")
    assert on["speed"] == on["output_throughput"]
    assert on["speed"]["interval"]
    assert page.exists()


def test_a_stopped_run_is_shown_as_far_as_it_went(tmp_path, capsys):
    path = make_run(tmp_path / "r", Made(prompts=8, stop_after=20))
    (path / "result.json").unlink()
    assert report(path, "--json") == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["partial"] is True


def test_a_run_without_a_claim_is_no_error_of_the_report(tmp_path, capsys):
    path = make_run(tmp_path / "r", Made(prompts=8, repeats=2, loads=LOADS[:1]))
    assert report(path) == 0
    assert "no claim" in capsys.readouterr().out


@pytest.mark.parametrize("make", ["directory", "file", "nothing"])
def test_what_is_no_run_is_a_usage_error(tmp_path, capsys, make):
    path = tmp_path / "x.json"
    if make == "directory":
        path.mkdir()
    elif make == "file":
        path.write_text("{}")
    assert report(path) == 2
    said = capsys.readouterr().err
    assert str(path) in said
    assert "a directory that trtspec bench wrote" in said


def test_a_broken_record_is_named_with_its_line(run, tmp_path, capsys):
    path = make_run(tmp_path / "r", MADE)
    with (path / "samples.jsonl").open("a") as file:
        file.write('{"arm": 3}\n')
    assert report(path) == 2
    assert "samples.jsonl:" in capsys.readouterr().err


def test_no_argument_is_a_usage_error(capsys):
    assert report() == 2
    assert "RUNS" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_names_its_option(run, tmp_path, capsys):
    (tmp_path / "file").touch()
    assert report(run, "--html", tmp_path / "file" / "r.html") == 2
    assert "--html" in capsys.readouterr().err


def test_runs_that_differ_in_what_matters_are_refused_with_the_list(
    run, tmp_path, capsys
):
    from dataclasses import replace

    other = make_run(tmp_path / "r", replace(MADE, cpu="another CPU", prompts=9))
    assert report(run, other) == 2
    said = capsys.readouterr().err
    assert "another CPU" in said
    assert "--allow-different" in said


def test_a_run_is_written_as_aiperf_would_have(run, tmp_path, capsys):
    assert report(run, "--aiperf", tmp_path / "a") == 0
    written = capsys.readouterr().out
    folders = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert len(folders) == 2 * 3  # loads; off, off again, on
    for name in folders:
        assert f"written: {tmp_path / 'a' / name}" in written
        files = {p.name for p in (tmp_path / "a" / name).iterdir()}
        assert files == {"profile_export_aiperf.json", "profile_export.jsonl"}


def test_several_runs_are_written_apart(run, tmp_path):
    other = make_run(tmp_path / "other", MADE)
    assert report(run, other, "--aiperf", tmp_path / "a") == 0
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == [run.name, "other"]


def test_outputs_are_not_written_over_one_another_or_over_the_run(
    run, tmp_path, capsys
):
    page = tmp_path / "r"
    assert report(run, "--html", page, "--markdown", tmp_path / "x" / ".." / "r") == 2
    assert "--html names the same file" in capsys.readouterr().err
    before = (run / "result.json").read_bytes()
    for option in ("--html", "--markdown"):
        for name in ("result.json", "samples.jsonl", "plan.json"):
            assert report(run, option, run / name) == 2
            assert "what the report is made of" in capsys.readouterr().err
        assert report(run / "result.json", option, run / "blocks.jsonl") == 2
    assert (run / "result.json").read_bytes() == before
    assert not page.exists()


def test_runs_of_one_name_from_two_places_do_not_write_over_each_other(tmp_path):
    one = make_run(tmp_path / "a" / "run", MADE)
    other = make_run(tmp_path / "b" / "run", MADE)
    assert report(one, other, "--aiperf", tmp_path / "out") == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["run", "run-"]


def test_a_run_that_is_named_twice_counts_once(run, capsys, monkeypatch):
    monkeypatch.chdir(run)
    assert report(run, run / "result.json", ".", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == 1


def test_a_run_that_is_named_by_a_dot_has_its_name(run, capsys, monkeypatch):
    monkeypatch.chdir(run)
    assert report(".") == 0
    assert f"| run | {run.name} |" in capsys.readouterr().out


def test_an_edited_result_is_told_and_not_shown(tmp_path, capsys):
    path = make_run(tmp_path / "r", MADE)
    report(path)
    honest = capsys.readouterr()
    text = (path / "result.json").read_text()
    forged = text.replace('"word": "no claim"', '"word": "faster"')
    forged = forged.replace('"word": "slower"', '"word": "faster"')
    assert forged != text
    (path / "result.json").write_text(forged)
    assert report(path) == 0
    shown = capsys.readouterr()
    assert shown.out.partition("measured")[0] == honest.out.partition("measured")[0]
    assert honest.err == ""
    assert "result.json says something else than the records" in shown.err


@pytest.fixture
def tuning(tmp_path):
    return write_tuning(tmp_path / "20261130T164300Z-toy", tuned(), TUNING_RUN)


def test_a_tuning_is_shown_the_choice_first(tuning, capsys):
    assert report(tuning) == 0
    out = capsys.readouterr().out
    assert out.startswith("# toy-ngram\n")
    assert out.index("## Choice") < out.index("## Draft length and load")


def test_a_tuning_becomes_a_page(tuning, tmp_path, capsys):
    page = tmp_path / "tuning.html"
    assert report(tuning / "result.json", "--html", page) == 0
    assert capsys.readouterr().out == f"written: {page}\n"
    assert Page(page.read_text(encoding="utf-8")).problems == []


def test_json_of_a_tuning_has_its_choice(tuning, capsys):
    assert report(tuning, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == []
    (found,) = told["tunings"]
    assert found["draft_length"] == {"1": 3, "4": 2}
    verdicts = [load["verdict"] for load in found["loads"]]
    assert verdicts == ["faster", "faster", "slower"]


def test_a_tuning_is_not_written_over(tuning, capsys):
    assert report(tuning, "--markdown", tuning / "result.json") == 2
    assert "it is what the report is made of" in capsys.readouterr().err
