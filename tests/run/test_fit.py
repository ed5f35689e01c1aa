"""A request that does not fit its artifact is refused with the way to make room."""

from __future__ import annotations

import pytest

from tests.trtllm.engine_recipes import recipe
from trtspec.errors import UsageError
from trtspec.run import Request, SamplingParams
from trtspec.run.fit import refuse_controls, refuse_logprobs, require_fit


def request(own):
    return Request("r1", (1, 2), 3, SamplingParams(), speculation=own)


def own_of(given, draft_length):
    return given.speculation.model_copy(update={"draft_length": draft_length})


@pytest.mark.parametrize(
    ("backend", "key"),
    [
        ("tensorrt", "engine.max_draft_length"),
        ("reference", "speculation.draft_length"),
    ],
)
def test_a_draft_beyond_the_capacity_names_what_to_raise(backend, key):
    given = recipe("ngram").model_copy(update={"backend": backend})
    require_fit(request(own_of(given, 6)), given, 6)
    with pytest.raises(UsageError) as caught:
        require_fit(request(own_of(given, 7)), given, 6)
    (problem,) = caught.value.problems
    assert "7 tokens is longer than the artifact was built for: 6" in problem.what
    assert problem.where == "request r1"
    assert problem.allowed == "up to 6 draft tokens"
    assert problem.action == f"ask for a shorter draft, or build with a larger {key}"


def test_lookahead_beyond_the_capacity_names_its_sizes():
    given = recipe("lookahead")
    own = given.speculation.model_copy(update={"window_size": 9})
    with pytest.raises(UsageError, match="a larger window_size, ngram_size or"):
        require_fit(request(own), given, given.speculation.longest_draft)


def test_another_method_is_refused():
    given = recipe("ngram")
    with pytest.raises(UsageError, match="the artifact's method, ngram"):
        require_fit(request(recipe("lookahead").speculation), given, 6)


@pytest.mark.parametrize("backend", ["reference", "tensorrt"])
def test_controls_of_another_backend_are_refused_by_name(backend):
    plain = Request("r1", (1, 2), 3)
    refuse_controls(plain, backend)
    asked = Request("r1", (1, 2), 3, controls={"min_p": 0.1, "bad": ["x"]})
    with pytest.raises(UsageError) as caught:
        refuse_controls(asked, backend)
    (problem,) = caught.value.problems
    assert problem.what == f"backend {backend} has no bad, min_p"
    assert "backend: pytorch" in problem.action


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"acceptance": "typical", "posterior_threshold": 0.1},
            "acceptance, posterior",
        ),
        ({"tree": [[0], [0, 0]]}, "tree"),
    ],
)
def test_a_request_changes_only_what_its_drafter_honours(changes, said):
    given = recipe("medusa").model_copy(update={"backend": "reference"})
    method = given.speculation
    own = type(method).model_validate({**method.model_dump(), **changes})
    with pytest.raises(UsageError) as caught:
        require_fit(request(own), given, 100)
    (problem,) = caught.value.problems
    assert f"the request changes {said}" in problem.what
    assert problem.allowed == "nothing of its own"


def test_log_probabilities_are_refused_where_the_engine_gives_none():
    refuse_logprobs(Request("r", (1, 2), 4), "tensorrt")
    for wanted in (0, 5):
        with pytest.raises(UsageError) as caught:
            refuse_logprobs(Request("r", (1, 2), 4, logprobs=wanted), "tensorrt")
        (problem,) = caught.value.problems
        assert "backend tensorrt gives no log-probabilities" in problem.what
        assert problem.allowed == "requests without logprobs"
