import pytest
from pydantic import ValidationError

from trtspec.errors import UsageError
from trtspec.verify.distribution import Plan, make_plan
from trtspec.verify.distribution.plan import LEVEL, OFF_PER_ON, SHIFT


def test_levels_of_all_looks_together_are_no_more_than_the_whole():
    for looks in (1, 3):
        plan = Plan(seeds=10, looks=looks)
        both = plan.global_level + plan.prompt_level
        assert looks * both == pytest.approx(LEVEL)
        assert plan.prompt_level > 0


@pytest.mark.parametrize("prompts", [1, 8, 60])
def test_one_prompt_alone_can_be_significant(prompts):
    """Its smallest p-value is 1 / (permutations + 1)."""
    plan = Plan(seeds=10)
    least = 1 / (plan.permutations_for(prompts) + 1)
    assert least <= plan.prompt_level / prompts


def test_the_number_of_seeds_is_the_smallest_that_is_enough():
    plan = make_plan(8)
    fewer = make_plan(8, shift=1.01 * SHIFT)
    assert plan.shift == SHIFT
    assert fewer.seeds < plan.seeds
    assert 50 < plan.seeds < 400


def test_smaller_shifts_and_fewer_prompts_take_more():
    seeds = [make_plan(8, shift).seeds for shift in (0.3, 0.2, 0.1, 0.05)]
    assert seeds == sorted(seeds)
    assert seeds[3] / seeds[2] == pytest.approx(4, rel=0.1)
    assert make_plan(2).seeds > make_plan(8).seeds > make_plan(32).seeds


def test_more_power_takes_more():
    assert make_plan(8, power=0.99).seeds > make_plan(8, power=0.8).seeds


def test_what_no_reasonable_number_finds_is_refused():
    with pytest.raises(UsageError, match="more than 20000 requests per prompt"):
        make_plan(1, shift=0.001)


def test_it_says_what_it_costs_before_anything_is_asked():
    plan = Plan(seeds=100, places=5, spare=3)
    assert plan.requests(6) == {"on": 600, "off": 600 * OFF_PER_ON, "control": 600}
    text = plan.cost(6)
    assert "600 requests on, 1200 off, 600 to the negative control, 2400 in all" in text
    assert "19200 tokens" in text
    assert "0.12" in text


def test_more_tokens_are_asked_for_than_are_compared():
    """The engine never drafts the last token that fits."""
    plan = Plan(seeds=2)
    assert plan.max_tokens > plan.places
    with pytest.raises(ValidationError):
        Plan(seeds=2, spare=0)


def test_neither_temperature_nor_top_p_is_1_by_default():
    """Else nobody could see that they are ignored."""
    sampling = Plan(seeds=2).sampling
    assert 0 < sampling.temperature < 1
    assert 0 < sampling.top_p < 1


@pytest.mark.parametrize("wrong", [{"temperature": 0}, {"seeds": 1}, {"places": 1}])
def test_what_would_test_nothing_is_refused(wrong):
    with pytest.raises(ValidationError):
        Plan(**{"seeds": 2, **wrong})


def test_it_is_written_and_read_again():
    plan = make_plan(3)
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert all(field.description for field in Plan.model_fields.values())
