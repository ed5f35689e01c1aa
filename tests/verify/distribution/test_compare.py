import numpy as np
import pytest

from trtspec.verify.distribution import Plan
from trtspec.verify.distribution.compare import Sample, compare, distinct, repeats

PLAN = Plan(seeds=60, places=3)


def sample(name, probabilities, count, seed, prompts=4):
    rng = np.random.default_rng(seed)
    size = len(probabilities)
    draws = rng.choice(size, (prompts, count, 3), p=probabilities)
    return Sample(
        name,
        {f"p{i}": [tuple(map(int, one)) for one in draws[i]] for i in range(prompts)},
    )


SAME, OTHER = (0.4, 0.3, 0.2, 0.1), (0.1, 0.3, 0.2, 0.4)


def test_two_samples_of_one_distribution_do_not_differ():
    found = compare(
        sample("on", SAME, 60, 1), sample("off", SAME, 120, 2), PLAN, 0.03, 0.02
    )
    assert not found.differs
    assert found.sizes == (60, 120)
    assert found.shift < 0.15
    assert abs(found.statistic - found.expected) < 3 * found.spread


def test_of_two_they_do_and_the_shift_is_at_least_the_true_one():
    found = compare(
        sample("on", OTHER, 60, 1), sample("off", SAME, 120, 2), PLAN, 0.03, 0.02
    )
    assert found.differs
    assert found.p_value == 1 / 1000
    assert all(one.found for one in found.prompts)
    # the true total variation is 0.3 for tokens, and more for pairs of them
    assert 0.3 <= found.shift < 0.6


def test_one_prompt_among_many_is_found_by_name():
    on, off = sample("on", SAME, 60, 1, 12), sample("off", SAME, 120, 2, 12)
    odd = {"p7": sample("on", OTHER, 60, 3, 12).by_prompt["p7"]}
    on = Sample("on", {**on.by_prompt, **odd})
    found = compare(on, off, PLAN, 0.03, 0.02)
    assert [one.prompt for one in found.prompts if one.found] == ["p7"]
    assert found.differs


def test_the_same_comparison_comes_out_the_same():
    arms = sample("on", SAME, 60, 1), sample("off", SAME, 120, 2)
    assert compare(*arms, PLAN, 0.03, 0.02) == compare(*arms, PLAN, 0.03, 0.02)


def test_a_shift_of_the_stated_size_in_all_prompts_is_found_as_often_as_stated():
    shift = 0.22
    p = np.array((0.25, 0.25, 0.25, 0.25))
    q = p + np.array((1, 1, -1, -1)) * shift / 2
    plan = PLAN.model_copy(update={"power": 0.8, "permutations": 199})
    found, smallest = [], []
    for run in range(40):
        on, off = sample("on", q, 60, 2 * run), sample("off", p, 120, 2 * run + 1)
        result = compare(on, off, plan, 0.03, 0.02)
        found.append(result.p_value <= 0.03)
        smallest.append(result.smallest_shift)
    assert np.mean(smallest) < shift
    assert np.mean(found) > 0.8


def test_in_one_prompt_alone_a_shift_must_be_larger():
    found = compare(
        sample("on", SAME, 60, 1), sample("off", SAME, 120, 2), PLAN, 0.03, 0.02
    )
    assert found.smallest_shift < found.smallest_shift_in_one


def test_answers_that_are_all_the_same_are_no_evidence_and_no_error():
    one = sample("on", (1.0,), 60, 1)
    found = compare(one, sample("off", (1.0,), 120, 2), PLAN, 0.03, 0.02)
    assert (found.p_value, found.statistic, found.smallest_shift) == (1.0, 0.0, None)


def test_shares_of_different_answers_and_of_equal_pairs():
    answers = [(1, 2), (1, 2), (3, 4), (1, 2)]
    assert distinct(answers) == 0.5
    assert repeats(Sample("on", {"a": answers})) == pytest.approx(3 / 6)
    assert repeats(Sample("on", {"a": answers, "b": [(1,), (2,)]})) == pytest.approx(
        0.25
    )


def test_halves_are_put_together_prompt_by_prompt():
    one, two = sample("off", SAME, 3, 1), sample("off again", SAME, 2, 2)
    both = one + two
    assert both.name == "off"
    assert both.by_prompt["p1"] == [*one.by_prompt["p1"], *two.by_prompt["p1"]]
