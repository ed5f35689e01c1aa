"""Identical or differing token ids: between arms and between blocks."""

from __future__ import annotations

from tests.bench.fakes import sample
from trtspec.bench.outputs import compare_outputs, first_difference


def pair(prompt, off, on):
    return [
        sample(arm="off", prompt_id=prompt, tokens=off, tokens_sha256=str(off)),
        sample(arm="on", prompt_id=prompt, tokens=on, tokens_sha256=str(on)),
    ]


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
    outputs = compare_outputs(samples, greedy=True)
    assert (outputs.identical, outputs.prompts) == (1, 2)
    assert [d.prompt_id for d in outputs.differences] == ["b"]


def test_sampled_outputs_are_not_compared_between_the_arms():
    outputs = compare_outputs(pair("a", (1, 2), (8, 9)), greedy=False)
    assert outputs.identical is None
    assert outputs.differences == ()


def test_each_arm_is_compared_with_itself_over_its_blocks():
    samples = pair("a", (1, 2), (1, 2)) + pair("b", (3, 4), (3, 4))
    for prompt, off_hash in (("a", "(1, 2)"), ("b", "another")):
        on_hash = samples[1 if prompt == "a" else 3].tokens_sha256
        samples.append(
            sample(arm="off", block=2, prompt_id=prompt, tokens_sha256=off_hash)
        )
        samples.append(
            sample(arm="on", block=2, prompt_id=prompt, tokens_sha256=on_hash)
        )
    outputs = compare_outputs(samples, greedy=True)
    assert (outputs.off_repeats, outputs.on_repeats) == (1, 2)
    assert outputs.identical == 2
