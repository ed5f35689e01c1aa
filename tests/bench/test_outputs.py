"""Identical or differing outputs: between arms and between blocks."""

from __future__ import annotations

from tests.bench.fakes import sample
from trtspec.bench.outputs import Outputs, compare_outputs, first_difference


def pair(prompt, off, on, key="tokens"):
    return [
        sample(arm=arm, prompt_id=prompt, output_sha256=str(output), **{key: output})
        for arm, output in (("off", off), ("on", on))
    ]


def compared(samples, *, greedy=True) -> Outputs:
    return compare_outputs(samples, "off", "on", greedy=greedy)


def test_identical_outputs_have_no_difference():
    assert first_difference("p", (1, 2, 3), (1, 2, 3)) is None


def test_the_first_differing_position_is_given_with_both_tokens():
    found = first_difference("p", (1, 2, 3, 4), (1, 2, 9, 9))
    assert found is not None
    assert (found.position, found.off, found.on) == (2, 3, 9)


def test_an_output_that_ends_earlier_differs_where_it_ends():
    found = first_difference("p", (1, 2), (1, 2, 7))
    assert found is not None
    assert (found.position, found.off, found.on) == (2, None, 7)


def test_the_counts_are_over_prompts():
    samples = [*pair("a", (1, 2), (1, 2)), *pair("b", (3, 4), (3, 5))]
    outputs = compared(samples)
    assert (outputs.identical, outputs.prompts, outputs.by) == (1, 2, "token ids")
    assert [d.prompt_id for d in outputs.differences] == ["b"]


def test_texts_are_compared_where_no_ids_are_and_that_is_said():
    samples = [*pair("a", "same", "same", "text"), *pair("b", "left", "lift", "text")]
    outputs = compared(samples)
    assert (outputs.identical, outputs.by) == (1, "text")
    (difference,) = outputs.differences
    assert (difference.position, difference.off, difference.on) == (1, "e", "i")


def test_a_third_arm_does_not_enter():
    samples = pair("a", (1, 2), (1, 2))
    samples.append(sample(arm="other", prompt_id="a", tokens=(9,), output_sha256="9"))
    assert compared(samples).identical == 1
    other = compare_outputs(samples, "off", "other", greedy=True)
    assert (other.identical, other.prompts) == (0, 1)


def test_sampled_outputs_are_not_compared_between_the_arms():
    outputs = compared(pair("a", (1, 2), (8, 9)), greedy=False)
    assert outputs.identical is None
    assert outputs.differences == ()


def test_each_arm_is_compared_with_itself_over_its_blocks():
    samples = pair("a", (1, 2), (1, 2)) + pair("b", (3, 4), (3, 4))
    for prompt, off_hash in (("a", "(1, 2)"), ("b", "another")):
        on_hash = samples[1 if prompt == "a" else 3].output_sha256
        samples.append(
            sample(arm="off", block=2, prompt_id=prompt, output_sha256=off_hash)
        )
        samples.append(
            sample(arm="on", block=2, prompt_id=prompt, output_sha256=on_hash)
        )
    outputs = compared(samples)
    assert (outputs.off_repeats, outputs.on_repeats) == (1, 2)
    assert outputs.identical == 2
