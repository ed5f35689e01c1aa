"""What published targets can use, by release: the right way first, with its reasons."""

from __future__ import annotations

import json

import pytest

from tests.advise.asking import ask, head, order, prompts, states, target
from tests.models.drafters import mtp_shapes
from tests.models.tiny import tensors, write_checkpoint
from trtspec.errors import UsageError

EDIT = "def add(a, b): return a + b ; def sub(a, b): return a - b ; print(add(1, 2))"


def chosen(advice):
    assert advice.chosen is not None
    return advice.chosen.method, advice.chosen.backend


@pytest.mark.parametrize(
    ("model", "trtllm", "expected"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", "1.2.1", ("eagle3", "pytorch")),
        ("meta-llama/Llama-3.1-8B-Instruct", "0.20.0", ("eagle", "tensorrt")),
        ("meta-llama/Llama-3.1-70B-Instruct", "1.2.1", ("draft_target", "pytorch")),
        ("meta-llama/Llama-3.1-70B-Instruct", "1.3.0rc25", ("pard", "pytorch")),
        ("lmsys/vicuna-7b-v1.3", "1.1.0", ("eagle", "tensorrt")),
        ("lmsys/vicuna-7b-v1.3", "1.3.0rc25", ("ngram", "pytorch")),
        ("deepseek-ai/DeepSeek-R1", "1.0.0", ("mtp", "pytorch")),
        ("openai/gpt-oss-120b", "1.1.0", ("eagle3", "pytorch")),
        ("openai/gpt-oss-20b", "1.2.1", ("ngram", "pytorch")),
        ("openai/gpt-oss-20b", "1.3.0rc25", ("dflash", "pytorch")),
        ("someone/a-new-model", "1.2.1", ("ngram", "pytorch")),
    ],
)
def test_a_target_by_its_id_begins_with_the_best_that_the_release_has(
    tmp_path, model, trtllm, expected
):
    backends = ("tensorrt",) if trtllm == "0.20.0" else None
    if trtllm.startswith("1.3"):
        backends = ("pytorch",)
    assert chosen(ask(tmp_path, model, trtllm=trtllm, backends=backends)) == expected


@pytest.mark.parametrize("name", ["Qwen3-8B", "Mistral-7B-Instruct-v0.3", "phi-4"])
def test_ngram_is_always_there_for_a_target_without_a_drafter(tmp_path, name):
    model = target(tmp_path, name, folder="mine")
    for trtllm in ("1.0.0", "1.2.1"):
        assert chosen(ask(tmp_path, model, trtllm=trtllm)) == ("ngram", "pytorch")


def test_what_the_name_of_a_folder_suggests_is_listed_and_not_chosen(tmp_path):
    model = target(tmp_path, "Qwen3-8B")
    advice = ask(tmp_path, model, trtllm="1.2.1")
    assert advice.candidates[0].method == "eagle3"
    assert "by the name of the target's folder" in advice.candidates[0].needs[0]
    assert chosen(advice) == ("ngram", "pytorch")
    asked = ask(tmp_path, model, trtllm="1.2.1", method="eagle3")
    assert chosen(asked) == ("eagle3", "pytorch")


@pytest.mark.parametrize(
    ("name", "drafter", "trtllm", "expected"),
    [
        ("Qwen3-8B", "Tengyunw/qwen3_8b_eagle3", "1.2.1", ("eagle3", "pytorch")),
        ("Llama-3.1-8B", "EAGLE3-LLaMA3.1-Instruct-8B", "1.0.0", ("eagle3", "pytorch")),
        ("vicuna-7b-v1.3", "medusa-vicuna-7b-v1.3", "1.1.0", ("medusa", "tensorrt")),
        ("vicuna-13b-v1.3", "EAGLE-Vicuna-13B-v1.3", "1.2.1", ("eagle", "tensorrt")),
        ("Qwen3-8B", "Qwen3-8B-DFlash-b16", "1.3.0rc25", ("dflash", "pytorch")),
    ],
)
def test_a_drafter_that_fits_is_chosen(tmp_path, name, drafter, trtllm, expected):
    model = target(tmp_path, name, folder="mine")
    given = (str(head(tmp_path, drafter)),)
    backends = ("pytorch",) if trtllm.startswith("1.3") else None
    advice = ask(tmp_path, model, trtllm=trtllm, drafts=given, backends=backends)
    assert chosen(advice) == expected
    assert advice.chosen.state == "usable"


@pytest.mark.parametrize(
    ("name", "drafter", "said"),
    [
        ("Llama-3.3-70B-Instruct", "EAGLE3-LLaMA3.1-Instruct-8B", "8192"),
        ("Qwen3-32B", "Tengyunw/qwen3_8b_eagle3", "5120"),
    ],
)
def test_a_head_of_another_target_is_not_usable_and_says_why(
    tmp_path, name, drafter, said
):
    model = target(tmp_path, name, folder="mine")
    advice = ask(
        tmp_path, model, trtllm="1.2.1", drafts=(str(head(tmp_path, drafter)),)
    )
    refused = next(c for c in advice.candidates if c.drafter is not None)
    assert refused.state == "no"
    assert said in " ".join(refused.needs)
    assert chosen(advice) == ("ngram", "pytorch")


def test_heads_inside_the_checkpoint_come_first(tmp_path):
    weights = tensors(**mtp_shapes(layers=2))
    write_checkpoint(tmp_path / "t", weights=weights, num_nextn_predict_layers=1)
    write_checkpoint(tmp_path / "small")
    advice = ask(tmp_path, "./t", trtllm="1.2.1", drafts=("./small",))
    assert advice.candidates[0].method == "mtp"
    assert advice.candidates[0].drafter.model is None
    assert "not established" in advice.candidates[0].sampled


@pytest.mark.parametrize(
    ("small", "expected"),
    [("Llama-3.2-1B", ["draft_target", "ngram"]), ("Llama-3.1-8B", ["ngram"])],
)
def test_a_draft_model_is_to_be_at_most_a_tenth(tmp_path, small, expected):
    model = target(tmp_path, "Llama-3.3-70B-Instruct", folder="mine")
    given = (str(target(tmp_path, small, folder="small")),)
    advice = ask(tmp_path, model, trtllm="1.2.1", drafts=given)
    assert order(advice, "draft_target", "ngram")[: len(expected)] == expected


def test_copying_is_chosen_before_a_draft_model_where_answers_repeat_prompts(tmp_path):
    write_checkpoint(tmp_path / "t")
    write_checkpoint(tmp_path / "d", weights=None)
    repeating = prompts(tmp_path, {"prompt": EDIT, "answer": EDIT})
    advice = ask(tmp_path, "meta-llama/Llama-3.1-70B-Instruct", workload=repeating)
    assert advice.workload.repeats
    assert chosen(advice) == ("ngram", "reference")
    plain = ask(tmp_path, "meta-llama/Llama-3.1-70B-Instruct")
    assert chosen(plain) == ("pard", "reference")


def test_a_release_without_a_method_names_those_that_have_it(tmp_path):
    advice = ask(tmp_path, "Qwen/Qwen3-8B", trtllm="1.2.1")
    assert states(advice)["suffix", "pytorch"] == "get"
    needs = next(c.needs for c in advice.candidates if c.method == "suffix")
    assert "1.3.0rc22" in needs[0]


def test_medusa_on_backend_pytorch_says_what_to_take_instead(tmp_path):
    advice = ask(tmp_path, "lmsys/vicuna-7b-v1.3", trtllm="1.2.1")
    refused = next(
        c for c in advice.candidates if (c.method, c.backend) == ("medusa", "pytorch")
    )
    assert refused.state == "no"
    assert "does not run Medusa heads; take eagle3" in refused.needs[0]


def test_where_the_target_itself_cannot_run_nothing_is_chosen(tmp_path):
    write_checkpoint(tmp_path / "t", model_type="qwen3_next")
    advice = ask(tmp_path, "./t")
    assert advice.chosen is None
    assert states(advice)["ngram", "reference"] == "no"


@pytest.mark.parametrize(
    ("stored", "backend", "expected"),
    [
        ("float16", "tensorrt", "float16"),
        ("float32", "tensorrt", "bfloat16"),  # engines with drafts have no float32
        ("float32", "pytorch", "float32"),
        ("float16", "reference", "float32"),  # small: near ties stay where they are
    ],
)
def test_the_type_is_the_stored_one_where_the_backend_has_it(
    tmp_path, stored, backend, expected
):
    write_checkpoint(tmp_path / "t", weights=tensors(stored))
    release = None if backend == "reference" else "1.2.1"
    advice = ask(tmp_path, "./t", trtllm=release, backends=(backend,))
    assert chosen(advice) == ("ngram", backend)
    assert advice.chosen.draft.content["target"]["dtype"] == expected


def test_the_publishers_sampling_is_read(tmp_path):
    write_checkpoint(tmp_path / "t", weights=tensors())
    said = {"do_sample": True, "temperature": 0.6, "top_p": 0.95, "top_k": None}
    (tmp_path / "t" / "generation_config.json").write_text(json.dumps(said))
    assert ask(tmp_path, "./t").target.sampling == {"temperature": 0.6, "top_p": 0.95}


def test_a_target_that_means_nothing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no directory"):
        ask(tmp_path, "./nowhere")
