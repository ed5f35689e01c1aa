import pytest

from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.judge import judge
from trtspec.verify.distribution.result import Comparison, Drafts, PromptComparison

PLAN = Plan(seeds=100)
DRAFTED = Drafts(drafted=900, accepted=500)


def prompt(name="a", found=False, distinct=(0.5, 0.5)):
    return PromptComparison(
        prompt=name,
        cells=20,
        statistic=30,
        expected=28,
        p_value=0.3,
        found=found,
        distinct=distinct,
    )


def comparison(p=0.4, level=0.03, prompts=(), **values):
    return Comparison(
        **{
            "first": "on",
            "second": "off",
            "sizes": (100, 200),
            "statistic": 300,
            "expected": 280,
            "spread": 20,
            "p_value": p,
            "level": level,
            "shift": 0.11,
            "smallest_shift": 0.12,
            "smallest_shift_in_one": 0.3,
            "repeats": (0.1, 0.1),
            "prompts": prompts or (prompt(),),
            **values,
        }
    )


GOOD, BAD = comparison(), comparison(p=0.001)
CONTROL = comparison(p=0.001, first="a wrong rule", shift=0.4)


def test_no_difference_and_a_control_that_is_found_pass_with_what_was_visible():
    verdict, (reason,) = judge(GOOD, GOOD, CONTROL, DRAFTED, PLAN)
    assert verdict == "pass"
    assert (
        "a shift of 0.12 everywhere would have been found with a chance of 95%"
        in reason
    )
    assert "shift up to 0.40" in reason


def test_a_difference_fails_whatever_the_control_says():
    for control in (CONTROL, GOOD):
        verdict, reasons = judge(BAD, GOOD, control, DRAFTED, PLAN)
        assert verdict == "fail"
        assert "p = 0.001" in reasons[0]


def test_one_prompt_is_enough_to_fail_and_is_named():
    one = comparison(prompts=(prompt("a"), prompt("b", found=True)))
    verdict, reasons = judge(one, GOOD, CONTROL, DRAFTED, PLAN)
    assert verdict == "fail"
    assert reasons[0] == "it does so in 1 of 2 prompts: b"


def test_a_control_that_passes_means_that_power_was_lacking():
    verdict, (reason,) = judge(GOOD, GOOD, GOOD, DRAFTED, PLAN)
    assert verdict == "cannot tell"
    assert "lacks power" in reason


@pytest.mark.parametrize("on", [GOOD, BAD])
def test_an_off_arm_that_differs_from_itself_settles_nothing(on):
    floor = comparison(p=0.005, level=0.01)
    verdict, (reason,) = judge(on, floor, CONTROL, DRAFTED, PLAN)
    assert verdict == "cannot tell"
    assert "off differs from off (p = 0.005)" in reason


def test_a_floor_is_held_to_its_own_level():
    floor = comparison(p=0.02, level=0.01)
    assert judge(GOOD, floor, CONTROL, DRAFTED, PLAN)[0] == "pass"


def test_an_off_arm_with_one_answer_for_all_seeds_settles_nothing():
    same = prompt(distinct=(0.01, 0.01))
    floor = comparison(prompts=(same, same), sizes=(100, 100))
    verdict, (reason,) = judge(BAD, floor, CONTROL, DRAFTED, PLAN)
    assert verdict == "cannot tell"
    assert "ignores seeds" in reason


def test_where_nothing_was_drafted_nothing_was_tested():
    none = Drafts(drafted=0, accepted=0)
    verdict, (reason,) = judge(GOOD, GOOD, CONTROL, none, PLAN)
    assert verdict == "cannot tell"
    assert "nothing was drafted" in reason


def test_an_arm_that_does_not_say_what_it_drafted_can_pass():
    silent = Drafts(drafted=None, accepted=None)
    assert judge(GOOD, GOOD, CONTROL, silent, PLAN)[0] == "pass"


def test_collapse_to_argmax_is_called_so():
    one = prompt(found=True, distinct=(0.01, 0.4))
    on = comparison(p=0.001, prompts=(one, one), repeats=(1.0, 0.1))
    _, reasons = judge(on, GOOD, CONTROL, DRAFTED, PLAN)
    assert "collapse to argmax" in reasons[-1]


@pytest.mark.parametrize(
    ("repeats", "word"), [((0.3, 0.1), "sharper"), ((0.1, 0.3), "flatter")]
)
def test_which_way_it_moved_is_said(repeats, word):
    on = comparison(p=0.001, repeats=repeats)
    _, reasons = judge(on, GOOD, CONTROL, DRAFTED, PLAN)
    assert word in reasons[-1]


def test_nothing_is_said_of_a_direction_that_is_not_clear():
    _, reasons = judge(BAD, GOOD, CONTROL, DRAFTED, PLAN)
    assert len(reasons) == 1
