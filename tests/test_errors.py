"""Errors carry their exit code and say what to do."""

import pytest

from trtspec import errors
from trtspec.errors import Problem, TrtspecError, UsageError

CODES = {
    "TrtspecError": 5,
    "UsageError": 2,
    "RecipeError": 2,
    "FindingsError": 3,
    "BackendUnavailableError": 4,
    "BuildError": 5,
    "RunError": 5,
    "NoClaimError": 6,
    "VerificationError": 7,
}


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_exit_codes_are_the_documented_ones(name, code):
    assert getattr(errors, name)("x").exit_code == code


def test_a_problem_reads_where_what_allowed_do():
    problem = Problem("K is 0", "r.yaml:9", "1 to 256", "use method: none")
    assert (
        str(problem) == "r.yaml:9: K is 0\n  allowed: 1 to 256\n  do: use method: none"
    )
    assert str(Problem("only this")) == "only this"


def test_several_problems_keep_the_kind_of_error():
    error = UsageError.from_problems([Problem("a"), Problem("b")])
    assert isinstance(error, UsageError)
    assert str(error) == "a\nb"
    assert [p.what for p in error.problems] == ["a", "b"]


def test_a_single_error_is_one_problem():
    error = TrtspecError("a", where="w", action="do")
    assert error.problems == (Problem("a", "w", "", "do"),)
