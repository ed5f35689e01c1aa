"""Both arms are asked, compared and judged as a whole."""

import pytest

from tests.verify.arms_fake import FakeArm, FakeScorer, questions, scripted, tokens
from trtspec.verify.greedy.parity import ParityPlan, greedy_parity
from trtspec.verify.greedy.sentences import parity_lines

SAME = {f"p{i}": (1, 2, 3, 4) for i in range(16)}


def outputs(*changed, token=9, position=1):
    """The usual outputs, but another token from there on in these prompts."""
    other = dict(SAME)
    for index in changed:
        ids = list(SAME[f"p{index}"])
        ids[position:] = [token] * (4 - position)
        other[f"p{index}"] = tuple(ids)
    return other


def drafting(name, given):
    return scripted(name, given, drafted=8, accepted=4)


def run(on, off=SAME, gap=0.004, again=None, scorer=True, **plan):
    """Compare; ``again`` is what off says at another concurrency than 1."""
    again = off if again is None else again

    def said(question, concurrency):
        ids = (off if concurrency == 1 else again)[question.id]
        return tokens(*ids, question=question.id, drafted=0, accepted=0)

    on = on if isinstance(on, FakeArm) else drafting("on", on)
    logits = dict.fromkeys(range(9), 20.0) | {9: 20.0 - gap}
    found = FakeScorer(logits) if scorer else None
    asked = ParityPlan(**{"questions": questions(16), **plan})
    return greedy_parity(FakeArm("off", said), on, asked, found).record


def test_identical_output_passes_and_says_how_little_that_proves():
    found = run(SAME)
    assert (found.verdict, found.reasons) == ("pass", ())
    one = found.comparisons[0]
    assert (one.identical.count, one.prompts, one.tokens) == (16, 16, 64)
    assert 0.1 < one.divergences.high < 0.25
    assert (one.drafted, one.accepted, one.by) == (128, 64, "token ids")


def test_case_23_a_near_tie_passes():
    found = run(outputs(3), gap=0.004)
    assert found.verdict == "pass"
    assert found.comparisons[0].near_ties.count == 1
    assert found.comparisons[0].differences[0].gap == pytest.approx(0.004)


def test_case_23_a_real_divergence_fails():
    found = run(outputs(3), gap=3.1)
    assert found.verdict == "fail"
    assert found.comparisons[0].divergences.count == 1
    assert "prompt p3 at 1" in found.reasons[0]
    assert "3.1" in found.reasons[0]


def test_every_line_of_case_23_is_printed():
    again = outputs(5, 6)
    lines = "\n".join(parity_lines(run(outputs(3), again=again)))
    assert "near ties 1 of 16" in lines  # the share in each class
    assert "real divergences 0 of 16" in lines
    assert "is a near tie: 4 steps of bfloat16" in lines  # the tolerance
    assert "off again at 4 requests at once against off" in lines  # the drift
    assert "near ties 2 of 16" in lines
    assert "behind a first difference nothing is compared" in lines


def test_behind_the_first_difference_nothing_is_compared():
    near_then_wild = dict(SAME, p3=(1, 9, 40, 41))
    found = run(near_then_wild)
    assert found.verdict == "pass"
    assert found.comparisons[0].tokens == 15 * 4 + 2


def test_on_is_compared_at_each_concurrency_with_off_at_the_first():
    off, on = scripted("off", SAME), drafting("on", SAME)
    plan = ParityPlan(questions=questions(16), concurrencies=(1, 4, 8), floor=(5, 8))
    found = greedy_parity(off, on, plan).record
    assert off.asked == [1, 5, 8]
    assert on.asked == [1, 4, 8]
    assert [c.concurrency for c in found.comparisons] == [1, 4, 8]
    assert [(c.arm, c.concurrency) for c in found.floor] == [
        ("off again", 5),
        ("off again", 8),
    ]


def test_one_bad_concurrency_is_enough_to_fail():
    def said(question, concurrency):
        ids = (SAME if concurrency == 1 else outputs(2))[question.id]
        return tokens(*ids, question=question.id, drafted=8, accepted=4)

    found = run(FakeArm("on", said), gap=3.1)
    assert found.verdict == "fail"
    assert [c.divergences.count for c in found.comparisons] == [0, 1]


def test_far_more_near_ties_than_without_speculation_are_a_reason_to_doubt():
    found = run(outputs(*range(10)))
    assert found.verdict == "cannot tell"
    assert "10 of 16" in found.reasons[0]
    assert "0 of 16" in found.reasons[0]
    assert "p = 0.00098" in found.reasons[0]


def test_as_many_near_ties_as_without_speculation_pass():
    found = run(outputs(*range(10)), again=outputs(*range(4, 12)))
    assert found.verdict == "pass"


def test_a_few_more_are_chance():
    assert run(outputs(0, 1, 2, 3)).verdict == "pass"


def test_a_divergence_that_off_shows_as_often_is_not_held_against_on():
    found = run(outputs(1, 2, 3), gap=3.1, again=outputs(4, 5, 6))
    assert found.verdict == "cannot tell"
    assert any("diverges from itself about as often" in r for r in found.reasons)
    assert any("no yardstick" in r for r in found.reasons)


def test_but_a_divergence_everywhere_fails_whatever_off_does():
    found = run(outputs(*range(16)), gap=3.1, again=outputs(4))
    assert found.verdict == "fail"


def test_without_logits_a_difference_cannot_be_told():
    found = run(outputs(3), scorer=False)
    assert found.verdict == "cannot tell"
    assert found.comparisons[0].unknown.count == 1
    assert found.tolerance.spread is None


def test_without_logits_off_itself_can_explain_it():
    found = run(outputs(3), again=outputs(3), scorer=False)
    assert found.comparisons[0].near_ties.count == 1
    assert found.comparisons[0].differences[0].source == "off itself"
    # but off's own difference is not explained by itself
    assert found.floor[0].unknown.count == 1


def test_nothing_drafted_proves_nothing():
    found = run(scripted("on", SAME, drafted=0, accepted=0))
    assert found.verdict == "cannot tell"
    assert "nothing was drafted" in found.reasons[0]


def test_a_schedule_may_draft_nothing_at_one_batch_size():
    def said(question, concurrency):
        drafted = 8 if concurrency == 1 else 0
        ids = SAME[question.id]
        return tokens(*ids, question=question.id, drafted=drafted, accepted=0)

    assert run(FakeArm("on", said)).verdict == "pass"


def test_an_arm_that_does_not_tell_its_drafts_may_pass():
    found = run(scripted("on", SAME))
    assert found.verdict == "pass"
    assert found.comparisons[0].drafted is None


def test_an_off_arm_that_moves_by_more_than_rounding_is_no_yardstick():
    off, on = scripted("off", SAME), drafting("on", SAME)
    scorer = FakeScorer({}, differences=[0.1, 6.0])
    plan = ParityPlan(questions=questions(16))
    found = greedy_parity(off, on, plan, scorer).record
    assert found.verdict == "cannot tell"
    assert "in another shape" in found.reasons[0]


def test_texts_are_compared_where_nothing_else_is_told():
    from trtspec.verify.arm import Answer

    off = FakeArm("off", lambda q, c: Answer(q.id, None, "a b"))
    on = FakeArm("on", lambda q, c: Answer(q.id, None, "a b"))
    found = greedy_parity(off, on, ParityPlan(questions=questions(4))).record
    assert found.verdict == "pass"
    assert found.comparisons[0].by == "text"
    assert found.comparisons[0].tokens is None
    assert found.comparisons[0].per_thousand is None


def test_it_survives_json():
    found = run(outputs(3), again=outputs(5))
    assert type(found).model_validate_json(found.model_dump_json()) == found
