"""The canary tells text that could be right from text that cannot."""

import pytest

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.launch.canary import SENTENCE, run_canary, text_fault


@pytest.mark.parametrize(
    "text",
    ["!" * 32, " the" * 20, "\n0\n0\n0\n0\n0\n0\n0\n0\n0", "ababababababababab"],
)
def test_one_piece_of_text_repeated_is_a_fault(text):
    assert text_fault(text).startswith("one piece of text repeated: ")


@pytest.mark.parametrize("text", ["", " \n "])
def test_empty_text_is_a_fault(text):
    assert text_fault(text) == "empty text"


@pytest.mark.parametrize(
    "text", ["the Rhine", "no", "ha ha ha ha ha ha ha ha, said the fox", "!!!", "aaaa"]
)
def test_other_text_is_none(text):
    assert text_fault(text) == ""


def run(rig, **fake):
    rig.behave(**fake)
    with rig.make() as server:
        server.start()
        return run_canary(server.address, server.model, SENTENCE, 10)


def test_model_without_a_template_gets_the_text_itself(rig):
    assert run(rig, no_template=True).text == "the Rhine, the Danube and the Elbe"
    assert [asked["path"] for asked in rig.asked()] == [
        "/v1/chat/completions",
        "/v1/completions",
    ]
    assert rig.asked()[1]["prompt"] == SENTENCE[0]["content"]


def test_server_that_does_not_tell_tokens_per_step_is_taken_at_its_word(rig):
    assert run(rig, tokens_per_step=None).tokens_per_step is None


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        ({"text": ""}, "failed: empty text"),
        ({"text": "!" * 40}, "failed: one piece of text repeated: '!!!!"),
        ({"status": 500}, "failed: status 500: broken"),
    ],
)
def test_bad_answer_is_an_error_with_exit_code_5(rig, fake, message):
    with pytest.raises(RunError, match=message) as caught:
        run(rig, **fake)
    assert caught.value.exit_code == 5
    assert "--no-canary" in caught.value.problems[0].action


def test_no_answer_is_an_error(rig):
    with pytest.raises(RunError, match="failed: no answer"):
        run_canary(rig.address, "target", SENTENCE, 0.1)
