"""What counts as a tuning, and what is read of it."""

from __future__ import annotations

import json

import pytest

from tests.report.made_runs import LOADS, Drafting, Made, make_run
from tests.report.tuning.made import RUN, write_tuning
from tests.tune.made_result import confirmed, result
from trtspec.errors import UsageError
from trtspec.report.load import load_all
from trtspec.report.tuning.load import is_tuning, load_tuning


@pytest.fixture
def tuning(tmp_path):
    return write_tuning(tmp_path / "tuning", result())


def test_a_directory_is_one_and_so_is_the_document_in_it(tuning):
    assert is_tuning(tuning)
    assert is_tuning(tuning / "result.json")
    assert not is_tuning(tuning / "traces")
    assert load_tuning(tuning / "result.json").path == tuning
    assert load_tuning(tuning).result == result()


def test_a_bench_is_none(tmp_path):
    arms = {"on": Drafting(2)}
    made = Made(arms=arms, loads=LOADS[:1], prompts=3, repeats=2)
    run = make_run(tmp_path / "run", made)
    assert not is_tuning(run)
    (run / "traces").mkdir()
    (run / "costs").mkdir()
    assert not is_tuning(run)


def test_a_tuning_that_never_ended_is_none(tuning):
    (tuning / "result.json").unlink()
    assert not is_tuning(tuning)
    with pytest.raises(UsageError, match="no run of trtspec bench"):
        load_all([tuning], ())


def test_named_twice_it_counts_once(tuning):
    loaded = load_all([tuning, tuning / "result.json"], ())
    assert [found.path for found in loaded.tunings] == [tuning]
    assert (loaded.runs, loaded.foreign) == ((), ())


def test_the_bench_beside_it_is_read(tmp_path):
    found = load_tuning(write_tuning(tmp_path / "t", confirmed(), RUN))
    assert sorted(found.measured) == [1, 4]
    assert set(found.measured[1]) == set(RUN.arms)
    assert found.measured[1]["tuned"].gain > 1


def test_a_bench_that_is_gone_is_no_error(tmp_path):
    found = load_tuning(write_tuning(tmp_path / "t", confirmed()))
    assert found.run is None
    assert found.measured == {}


def test_one_without_a_bench_reads_none_that_lies_there(tmp_path):
    found = load_tuning(write_tuning(tmp_path / "t", result(), RUN))
    assert found.run is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": "trtspec/tune/v9"}, "schema"),
        ({"candidates": []}, "candidates"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_a_document_that_is_none_is_refused_with_the_place(tuning, change, said):
    file = tuning / "result.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(UsageError, match=said) as caught:
        load_tuning(tuning)
    assert str(file) in str(caught.value)


def test_text_that_is_no_json_is_refused(tuning):
    (tuning / "result.json").write_text("{")
    with pytest.raises(UsageError, match="no document of trtspec tune"):
        load_tuning(tuning)
