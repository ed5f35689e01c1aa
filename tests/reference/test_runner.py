"""The runner: an artifact's files become answers, within the recipe's limits."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import BackendUnavailableError, RunError, UsageError
from trtspec.methods import DraftTarget
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Asked, Request, SamplingParams, generate, make_requests

DRAFT = {"method": "draft_target", "model": "./draft", "draft_length": 3}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "target")
    write_model(folder / "draft", seed=1)
    write_model(folder / "base", template=None)
    return folder


@pytest.fixture
def runner(models):
    runner = ReferenceRunner(recipe(), models / "target", None)
    yield runner
    runner.close()


def finished(runner, *requests):
    chunks = list(generate(runner, requests))
    return {c.request_id: c.completion for c in chunks if c.completion}


def ask(name="r", prompt=(3, 9, 4), tokens=8, **options):
    return Request(name, tuple(prompt), tokens, **{"ignore_eos": True, **options})


def test_text_is_that_of_the_tokens(runner):
    done = finished(runner, ask())["r"]
    assert done.text == " ".join(f"w{t}" for t in done.tokens)
    assert done.prompt_tokens == 3


def test_chunks_together_are_the_completion(runner):
    chunks = list(generate(runner, [ask(tokens=12, stop=("never",))]))
    done = chunks[-1].completion
    assert [t for c in chunks for t in c.tokens] == done.tokens
    assert "".join(c.text for c in chunks) == done.text


def test_times_are_in_order(runner):
    done = finished(runner, ask())["r"]
    assert done.submitted_at < done.first_token_at < done.last_token_at
    assert done.e2e > done.ttft > 0
    assert done.tpot == pytest.approx((done.e2e - done.ttft) / 7)


def test_both_methods_and_the_off_arm_agree(models):
    tokens = set()
    for method in (None, DRAFT):
        runner = ReferenceRunner(
            recipe(method), models / "target", models / "draft" if method else None
        )
        for speculate in (True, False):
            done = finished(runner, ask(tokens=20, speculate=speculate))["r"]
            assert (done.drafted > 0) == speculate
            tokens.add(tuple(done.tokens))
    assert len(tokens) == 1


def test_longest_step_comes_from_the_method(models):
    method = DraftTarget.model_validate({**DRAFT, "draft_length": {1: 9, 2: 3}})
    assert method.longest_draft == 9
    runner = ReferenceRunner(
        recipe(method.model_dump()), models / "target", models / "draft"
    )
    done = finished(runner, ask(tokens=57))["r"]  # fills the slot to its last token
    assert len(done.tokens) == 57


def test_chat_goes_through_the_template(runner):
    tokens = runner.encode_chat([{"role": "user", "content": "w7 w8"}])
    assert tokens == (2, 7, 8, 3)


def test_raw_text_does_not(runner):
    assert runner.encode("w7 w8") == (7, 8)


def test_model_without_template_says_how_to_go_on(models):
    runner = ReferenceRunner(recipe(), models / "base", None)
    with pytest.raises(UsageError, match="--raw"):
        runner.encode_chat([{"role": "user", "content": "w7"}])


def test_end_tokens_come_from_the_generation_config(models, tmp_path):
    shutil.copytree(models / "target", tmp_path / "target")
    plain = finished(ReferenceRunner(recipe(), models / "target", None), ask())["r"]
    end = plain.tokens[4]
    path = tmp_path / "target" / "generation_config.json"
    path.write_text(json.dumps({"eos_token_id": [47, end]}))
    runner = ReferenceRunner(recipe(), tmp_path / "target", None)
    done = finished(runner, ask(ignore_eos=False))["r"]
    assert done.tokens == plain.tokens[: plain.tokens.index(end) + 1]
    assert done.finish_reason == "stop"


def test_the_tokenizers_end_token_ends_the_output_too(models, tmp_path):
    shutil.copytree(models / "target", tmp_path / "target")
    plain = finished(ReferenceRunner(recipe(), models / "target", None), ask())["r"]
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for eos in (f"w{plain.tokens[3]}", {"content": f"w{plain.tokens[3]}"}):
        path = tmp_path / "target" / "tokenizer_config.json"
        path.write_text(json.dumps(config | {"eos_token": eos}))
        runner = ReferenceRunner(recipe(), tmp_path / "target", None)
        done = finished(runner, ask(ignore_eos=False))["r"]
        assert done.finish_reason == "stop"
        assert len(done.tokens) <= 4


def test_truncation_stored_in_the_tokenizer_never_cuts_a_prompt(models, tmp_path):
    from tokenizers import Tokenizer

    shutil.copytree(models / "target", tmp_path / "target")
    path = tmp_path / "target" / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(path))
    runner = ReferenceRunner(recipe(), tmp_path / "target", None)
    assert runner.encode("w2 w3 w4 w5 w6 w7") == (2, 3, 4, 5, 6, 7)


def test_a_template_that_refuses_a_conversation_is_a_usage_error(tmp_path):
    template = "{{ raise_exception('System role not supported') }}"
    write_model(tmp_path / "target", template=template)
    runner = ReferenceRunner(recipe(), tmp_path / "target", None)
    with pytest.raises(UsageError, match="System role not supported"):
        runner.encode_chat([{"role": "system", "content": "w2"}])


def test_short_memory_is_one_message(models, monkeypatch):
    def full(*_, **__):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("trtspec.reference.runner.require_faithful", full)
    with pytest.raises(RunError, match="KV cache"):
        ReferenceRunner(recipe(), models / "target", None)


@pytest.mark.parametrize(
    ("prompt", "tokens", "message"),
    [
        ((), 4, "no tokens"),
        (range(2, 23), 4, "21 tokens"),
        ((3, 4), 59, "2 prompt tokens and 59 output tokens"),
        ((3, 4), 0, "0 output tokens"),
    ],
)
def test_request_beyond_the_limits_is_refused(runner, prompt, tokens, message):
    with pytest.raises(UsageError, match=message):
        runner.submit(ask(prompt=prompt, tokens=tokens))
    assert not runner.busy


def test_every_prompt_that_does_not_fit_is_named_before_any_runs(runner):
    from trtspec.recipe import Prompt

    prompts = [
        Prompt(name, "", ({"role": "user", "content": " ".join(["w5"] * size)},))
        for name, size in (("a", 30), ("b", 3), ("c", 40))
    ]
    with pytest.raises(UsageError) as caught:
        make_requests(runner, prompts, Asked(8, SamplingParams()))
    assert [p.where for p in caught.value.problems] == ["prompt a", "prompt c"]


def test_requests_get_consecutive_seeds_and_all_the_room_there_is(runner):
    from trtspec.recipe import Prompt

    prompts = [Prompt(n, "", ({"role": "user", "content": "w5"},)) for n in "ab"]
    asked = Asked(None, SamplingParams(temperature=1.0, seed=7))
    first, second = make_requests(runner, prompts, asked)
    assert (first.sampling.seed, second.sampling.seed) == (7, 8)
    assert first.max_new_tokens == 60 - 3
    asked = Asked(None, SamplingParams(), usual_tokens=9)
    assert make_requests(runner, prompts, asked)[0].max_new_tokens == 9


def test_stopping_early_cancels_what_runs(runner):
    chunks = generate(runner, [ask("a", tokens=40), ask("b", tokens=40)])
    next(chunks)
    chunks.close()
    assert not runner.busy


def test_cancelling_an_unknown_request_changes_nothing(runner):
    runner.cancel("nobody")
    assert not runner.busy


def test_unknown_device_is_named_with_what_there_is(models):
    with pytest.raises(BackendUnavailableError, match="'tpu:0'") as caught:
        ReferenceRunner(recipe(), models / "target", None, device="tpu:0")
    assert "cpu" in str(caught.value)


@pytest.mark.parametrize("broken", ["tokenizer.json", "model.safetensors"])
def test_broken_file_is_an_error_with_its_place(models, tmp_path, broken):
    shutil.copytree(models / "target", tmp_path / "target")
    (tmp_path / "target" / broken).write_bytes(b"{ not this")
    with pytest.raises(RunError, match="target"):
        ReferenceRunner(recipe(), tmp_path / "target", None)


def test_weights_are_never_invented(models, tmp_path):
    from safetensors.torch import load_file, save_file

    shutil.copytree(models / "target", tmp_path / "target")
    path = tmp_path / "target" / "model.safetensors"
    weights = load_file(path)
    weights.pop("model.norm.weight")
    save_file(weights, path, metadata={"format": "pt"})
    with pytest.raises(RunError, match=r"no weights for model\.norm\.weight"):
        ReferenceRunner(recipe(), tmp_path / "target", None)


def test_conditions_name_what_decides_the_speed(runner):
    conditions = runner.conditions()
    assert conditions["backend"] == "reference"
    assert conditions["dtype"] == "float32"
    assert {"device", "threads", "torch", "transformers"} <= conditions.keys()


def test_an_id_is_taken_once_at_a_time(runner):
    runner.submit(ask("a"))
    with pytest.raises(UsageError, match="a request 'a' already"):
        runner.submit(ask("a"))
    runner.advance()
    with pytest.raises(UsageError, match="a request 'a' already"):
        runner.submit(ask("a"))
    while runner.busy:
        runner.advance()
    assert finished(runner, ask("a"))["a"].tokens


def test_every_prompt_is_read_anew(runner):
    assert runner.caches_prompts is False


def test_controls_of_backend_pytorch_are_refused(runner):
    with pytest.raises(UsageError, match="backend reference has no min_tokens"):
        runner.submit(ask(controls={"min_tokens": 3}))
    assert not runner.busy
