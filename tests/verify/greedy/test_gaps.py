"""How a difference is classed, by whichever source tells the gap."""

import pytest

from tests.verify.arms_fake import FakeScorer, tokens
from trtspec.verify.arm import Answer, Question
from trtspec.verify.greedy.gaps import Judge, from_logprobs
from trtspec.verify.greedy.sequences import Parting, common_way, parting
from trtspec.verify.greedy.tolerance import tolerance_for

QUESTION = Question("p0", (3, 9), 8)
TEXT = Question("p0", "Say it.", 8)


def judged(off, on, question=QUESTION, dtype="bfloat16", **sources):
    by = common_way([off, on])
    judge = Judge(tolerance_for(dtype, "test"), **sources)
    return judge.judge(question, off, on, by, parting(off, on, by))


@pytest.mark.parametrize(
    ("gap", "kind"), [(0.004, "near tie"), (0.0, "near tie"), (3.1, "divergence")]
)
def test_case_23_near_tie_or_real_divergence(gap, kind):
    scorer = FakeScorer({5: 20.0, 6: 20.0 - gap})
    found = judged(tokens(1, 2, 5), tokens(1, 2, 6), scorer=scorer)
    assert found.kind == kind
    assert found.source == "logits"
    assert found.gap == pytest.approx(gap)
    assert (found.position, found.off, found.on) == (2, 5, 6)
    # the off arm was asked after the prompt and what both have
    assert scorer.texts == [(3, 9, 1, 2)]


def test_in_float32_a_gap_of_0_004_is_real():
    scorer = FakeScorer({5: 20.0, 6: 19.996})
    found = judged(tokens(5), tokens(6), dtype="float32", scorer=scorer)
    assert found.kind == "divergence"


def test_the_gap_is_to_the_token_that_the_other_arm_took():
    """Not to the off arm's second choice: 7 is close, 6 was taken."""
    scorer = FakeScorer({5: 20.0, 7: 19.9, 6: 11.0})
    assert judged(tokens(5), tokens(6), scorer=scorer).kind == "divergence"


def test_an_off_token_that_is_the_lower_one_by_much_diverges_as_well():
    scorer = FakeScorer({5: 11.0, 6: 20.0})
    assert judged(tokens(5), tokens(6), scorer=scorer).kind == "divergence"


def test_larger_logits_have_coarser_steps():
    scorer = FakeScorer({5: 200.0, 6: 197.0})
    assert judged(tokens(5), tokens(6), scorer=scorer).kind == "near tie"


def with_logprobs(ids, *places, **more):
    return tokens(*ids, logprobs=places, **more)


def test_without_logits_log_probabilities_tell():
    place = ((5, -0.70), (6, -0.71), (7, -6.0))
    off = with_logprobs((5,), place)
    near, far = judged(off, tokens(6)), judged(off, tokens(7))
    assert (near.kind, near.source) == ("near tie", "logprobs")
    assert near.gap == pytest.approx(0.01)
    assert (far.kind, far.gap) == ("divergence", pytest.approx(5.3))


def test_a_token_that_is_not_among_them_is_below_the_last():
    off = with_logprobs((5,), ((5, -0.1), (6, -4.0)))
    found = judged(off, tokens(40))
    assert (found.kind, found.at_least) == ("divergence", True)
    assert found.gap == pytest.approx(3.9)


def test_but_where_the_last_is_close_that_says_nothing():
    off = with_logprobs((5,), ((5, -0.70), (6, -0.71)))
    found = judged(off, tokens(40))
    assert (found.kind, found.at_least) == ("cannot tell", True)


def test_without_any_source_it_cannot_be_told():
    found = judged(tokens(5), tokens(6))
    assert (found.kind, found.source, found.gap) == ("cannot tell", "nothing", None)


def test_off_itself_may_have_taken_the_same_way():
    drifts = {"p0": [tokens(1, 6, 9)]}
    found = judged(tokens(1, 5), tokens(1, 6), drifts=drifts)
    assert (found.kind, found.source) == ("near tie", "off itself")


def test_another_way_of_off_is_no_excuse():
    elsewhere, earlier = tokens(1, 7), tokens(4, 6)
    found = judged(tokens(1, 5), tokens(1, 6), drifts={"p0": [elsewhere, earlier]})
    assert found.kind == "cannot tell"


def test_off_itself_does_not_outvote_a_gap():
    scorer = FakeScorer({5: 20.0, 6: 11.0})
    drifts = {"p0": [tokens(1, 6, 9)]}
    found = judged(tokens(1, 5), tokens(1, 6), scorer=scorer, drifts=drifts)
    assert found.kind == "divergence"


def test_an_end_that_is_no_token_cannot_be_scored():
    scorer = FakeScorer({5: 20.0})
    assert judged(tokens(1, 5), tokens(1), scorer=scorer).kind == "cannot tell"


def test_a_prompt_that_is_text_is_not_scored():
    scorer = FakeScorer({5: 20.0, 6: 20.0})
    assert judged(tokens(5), tokens(6), TEXT, scorer=scorer).kind == "cannot tell"
    assert scorer.texts == []


def words(*pieces, logprobs=None):
    return Answer("p0", None, "".join(pieces), pieces=pieces, logprobs=logprobs)


def test_texts_of_tokens_are_looked_up_by_their_text():
    place = ((" a", -0.70), (" b", -0.72), (" c", -5.0))
    off = words("x", " a", logprobs=((("x", -0.1),), place))
    assert judged(off, words("x", " b"), TEXT).kind == "near tie"
    assert judged(off, words("x", " c"), TEXT).kind == "divergence"


def test_ids_with_alternatives_by_text():
    """vLLM tells ids of what was taken, and texts of the alternatives."""
    place = ((" a", -0.70), (" b", -4.70))
    off = tokens(5, pieces=(" a",), logprobs=(place,))
    on = tokens(6, pieces=(" b",), logprobs=None)
    assert judged(off, on, TEXT).gap == pytest.approx(4.0)


def bare(text):
    return Answer("p0", None, text)


def test_a_text_alone_is_matched_with_the_alternatives_of_off():
    place = ((" cat", -0.70), (" cow", -0.71), (" dog", -6.0))
    off = words("a", " cat", " sat", logprobs=((("a", -0.1),), place, (("s", 0.0),)))
    near = judged(off, bare("a cow ran"), TEXT)
    assert (near.kind, near.position, near.off, near.on) == ("near tie", 3, "a", "o")
    assert judged(off, bare("a dog ran"), TEXT).kind == "divergence"


def test_a_text_that_fits_no_alternative_cannot_be_told():
    off = words("a", " cat", logprobs=((("a", -0.1),), ((" cat", -0.1),)))
    assert judged(off, bare("a pig"), TEXT).kind == "cannot tell"


def test_a_text_that_ends_where_off_goes_on_cannot_be_told():
    off = words("a", " b", logprobs=((("a", -0.1),), ((" b", -0.1), ("", -0.2))))
    assert judged(off, bare("a"), TEXT).kind == "cannot tell"


def test_behind_the_last_place_nothing_is_told():
    off = words("a", logprobs=((("a", -0.1),),))
    assert from_logprobs(off, bare("ab"), "text", Parting(1, None, "b")) is None
