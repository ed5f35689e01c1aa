"""What is said of a server that is ready."""

import pytest

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.cli.serve_words import Caveats, canary_lines
from trtspec.trtllm.pytorch.launch.canary import Canary


class Artifact:
    """As much of an artifact as the words need."""

    def __init__(self, **fields):
        self.recipe = recipe(**fields)


def lines(tokens=9, per_step=1.5, **fields):
    return canary_lines(Artifact(**fields), Canary("text", tokens, 0.256, per_step))


def test_canary_tells_tokens_time_and_tokens_per_step():
    assert lines() == [
        "canary: 9 tokens in 0.26 s (not a measurement)",
        "canary: 1.50 tokens per step (avg_decoded_tokens_per_iter)",
    ]


def test_server_without_that_figure_is_said_not_to_report_it():
    assert lines(per_step=None)[1:] == [
        "canary: acceptance length not reported by this server"
    ]


def test_lossy_requests_and_controls_that_are_dropped_are_warned_of():
    assert Caveats(("lossy for some",), ("bad, min_p are ignored",)).lines() == [
        "WARNING: lossy for some",
        "WARNING: in requests, bad, min_p are ignored",
    ]
    assert Caveats().lines() == []


def test_nothing_accepted_is_a_warning_with_a_command_that_takes_such_recipes():
    assert "trtspec run ARTIFACT --prompts FILE --json" in lines(per_step=1.0)[-1]
    assert "bench" not in lines(per_step=1.0)[-1]


def test_nothing_accepted_is_a_warning():
    assert lines(per_step=1.0)[-1].startswith("warning: no draft token was accepted")


@pytest.mark.parametrize("per_step", [None, 1.0])
def test_without_speculation_there_is_nothing_to_accept(per_step):
    assert len(lines(per_step=per_step, speculation={"method": "none"})) == 1


def test_tokens_that_the_server_does_not_count_are_unknown():
    assert lines(tokens=None)[0].startswith("canary: an unknown number of tokens in ")
