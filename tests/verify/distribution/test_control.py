from tests.verify.distribution.worlds import PROMPTS, WorldArm
from trtspec.verify.arm import Question
from trtspec.verify.distribution import AtAnotherTemperature, Plan
from trtspec.verify.distribution.collect import ask


def test_only_the_temperature_is_changed():
    plain, inner = WorldArm(), WorldArm(name="off")
    plan = Plan(seeds=3)
    ask(plain, PROMPTS, plan, 0, 3)
    ask(AtAnotherTemperature(inner, 2.0), PROMPTS, plan, 0, 3)
    for one, other in zip(plain.asked, inner.asked, strict=True):
        assert other.sampling.temperature == 2 * one.sampling.temperature
        assert (one.id, one.prompt, one.sampling.seed, one.sampling.top_p) == (
            other.id,
            other.prompt,
            other.sampling.seed,
            other.sampling.top_p,
        )


def test_it_says_what_is_wrong_with_it():
    assert AtAnotherTemperature(WorldArm(name="off"), 1.5).name == (
        "off, temperature times 1.5"
    )


def test_answers_are_the_arms_own():
    arm = WorldArm()
    question = Question("q", (1, 2), 4, Plan(seeds=2).sampling)
    assert AtAnotherTemperature(arm, 1.0).answer([question], 1) == arm.answer(
        [question], 1
    )
