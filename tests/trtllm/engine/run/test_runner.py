"""The runner: checked before anything is loaded, closed whatever happens."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.trtllm.engine.run.artifacts import (
    MODES,
    Opener,
    ask,
    engine,
    finish,
    greedy_tokens,
    installation,
    recipe,
    sampled,
    write_engine,
    write_tokenizer,
)
from tests.trtllm.engine.run.fakes import Script, install
from trtspec.errors import BackendUnavailableError, RunError, UsageError
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run import open_runner


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        ("ngram", {"mode": 1, "max_draft_len": 0}, "mode 1 .none."),
        ("ngram", {"max_draft_len": 3}, "drafts 4 tokens.*max_draft_len 3"),
        ("ngram", {"paged_context_fmha": False}, "use_paged_context_fmha off"),
        ("draft_target", {"kv_cache_quant": "INT8"}, "KV cache is INT8"),
        ("none", {"max_beam_width": 2}, "max_beam_width 2"),
        ("none", {"version": "0.20.0"}, "0.20.0, and 1.2.1"),
        ("none", {"max_batch_size": 1}, "max_batch_size 2.*built with 1"),
        ("ngram", {"max_input_len": 20}, "max_input_len .* 59.*built with 20"),
        ("medusa", {"extras": {"num_medusa_heads": 1}}, "num_medusa_heads 1"),
        ("lookahead", {"max_draft_len": 12}, "11 tokens.*max_draft_len 12"),
        ("eagle", {"mode": 64}, "mode 64"),
        ("none", {"tp_size": 2}, "tensor_parallel 2.*recipe has 1"),
    ],
)
def test_an_engine_that_cannot_work_is_never_loaded(
    open_engine, bindings, method, target, message
):
    with pytest.raises(RunError, match=message) as caught:
        open_engine(method, target=target)
    assert caught.value.problems[0].where == "target engine"
    assert bindings.order == []


@pytest.mark.parametrize(
    ("draft", "options", "message"),
    [
        ({"mode": 2}, {}, "mode 2 .draft_tokens_external."),
        ({"max_seq_len": 50}, {}, "max_seq_len 60.*built with 50"),
        ({"version": "1.2.0"}, {}, "1.2.0"),
        ({"max_beam_width": 2}, {}, "max_beam_width 2"),
        ({"tp_size": 2}, {}, "tensor_parallel 2"),
        ({"vocab_size": 50}, {"use_draft_logits": True}, "48, the draft engine 50"),
    ],
)
def test_nor_is_a_draft_engine(open_engine, bindings, draft, options, message):
    with pytest.raises(RunError, match=message):
        open_engine("draft_target", draft=draft, **options)
    assert bindings.order == []


@pytest.mark.parametrize("method", MODES)
def test_prompts_are_cached_only_where_drafts_come_from_outside(
    open_engine, bindings, method
):
    runner = open_engine(method)
    outside = method in ("ngram", "draft_target")
    cache = bindings.executors["target"].config.kv_cache_config
    assert cache.enable_block_reuse is runner.caches_prompts is outside
    assert runner.conditions()["kv_cache_block_reuse"] is outside


@pytest.mark.parametrize(
    "changes", [{"version": None}, {"executor": False}, {"assumed": True}]
)
def test_without_an_executor_there_is_no_runner(open_engine, bindings, changes):
    there = replace(installation(), **changes)
    with pytest.raises(BackendUnavailableError, match="no TensorRT-LLM executor"):
        open_engine(installed=there)


def test_hidden_gpus_are_missed(open_engine, bindings, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(BackendUnavailableError, match="needs 1 GPUs, and 0"):
        open_engine()


def test_two_engines_need_the_worker(open_engine, bindings):
    with pytest.raises(BackendUnavailableError, match="executorWorker"):
        open_engine("draft_target", installed=installation(worker=None))
    open_engine("ngram", installed=installation(worker=None))


def test_bindings_that_do_not_load_are_named(open_engine, monkeypatch, bindings):
    monkeypatch.setitem(sys.modules, "tensorrt_llm.bindings.executor", None)
    with pytest.raises(BackendUnavailableError, match=r"bindings\.executor"):
        open_engine()


@pytest.mark.parametrize("role", ["target", "draft"])
def test_an_engine_that_does_not_load_is_explained_and_the_other_closed(
    open_engine, bindings, role
):
    failures = {failure.name: failure for failure in facts.failures()}
    known = failures["engine_of_other_version"]
    bindings.scripts[role] = Script(load_error=known.example)
    with pytest.raises(RunError) as caught:
        open_engine("draft_target")
    assert known.meaning in str(caught.value)
    assert caught.value.problems[0].where.endswith(role)
    assert all(e.is_shut_down for e in bindings.executors.values())


def test_close_frees_every_engine_once(open_engine, bindings):
    runner = open_engine("draft_target")
    runner.submit(ask(tokens=40))
    runner.advance()
    runner.close()
    runner.close()
    assert all(e.is_shut_down for e in bindings.executors.values())
    assert not runner.busy
    assert runner.advance().chunks == ()
    with pytest.raises(RunError, match="closed"):
        runner.submit(ask())


def test_an_engine_that_does_not_close_keeps_no_other_open(open_engine, bindings):
    def fail():
        raise RuntimeError("MPI is gone")

    runner = open_engine("draft_target")
    bindings.executors["target"].shutdown = fail
    runner.close()
    assert bindings.executors["draft"].is_shut_down


def test_an_artifact_is_opened_by_its_folders(bindings, tmp_path):
    write_engine(tmp_path / "target", engine("draft_target"))
    write_engine(tmp_path / "draft", engine())
    write_tokenizer(tmp_path / "tokenizer")
    artifact = SimpleNamespace(
        path=tmp_path,
        target=tmp_path / "target",
        draft=tmp_path / "draft",
        tokenizer=tmp_path / "tokenizer",
        chat_template="{{ messages[0].content }}",
        manifest=SimpleNamespace(stages=()),
        recipe=recipe("draft_target"),
    )
    runner = open_runner(artifact, installation())
    assert finish(runner, ask())[0]["r"].tokens == greedy_tokens()
    assert bindings.order == ["draft", "target"]
    assert runner.encode_chat([{"role": "user", "content": "w7 w8"}]) == (7, 8)
    runner.close()


def test_limits_are_the_recipes(open_engine):
    runner = open_engine()
    sizes = runner.max_running, runner.max_input_tokens, runner.max_total_tokens
    assert sizes == (2, 20, 60)
    assert runner.encode("w7 w8") == (7, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": ()}, "no tokens"),
        ({"prompt": range(3, 24)}, "21 tokens"),
        ({"tokens": 58}, "3 prompt tokens and 58 output tokens"),
        ({"sampling": sampled(top_k=1025)}, "top_k 1025"),
    ],
)
def test_requests_beyond_the_limits_are_refused(open_engine, options, message):
    runner = open_engine()
    with pytest.raises(UsageError, match=message):
        runner.submit(ask(**options))
    assert not runner.busy


def test_a_longer_draft_than_built_is_refused_with_both_values(open_engine):
    runner = open_engine("ngram")
    own = runner._recipe.speculation.model_copy(update={"draft_length": 7})
    with pytest.raises(UsageError, match=r"draft of 7 tokens .* 6"):
        runner.submit(ask(speculation=own))


def test_lossy_outputs_say_so(open_engine):
    runner = open_engine("ngram", allow_lossy=True)
    done, _ = finish(
        runner, ask("sampled", sampling=sampled()), ask("greedy", tokens=4)
    )
    assert "p(2-p)" in done["sampled"].lossy
    assert done["greedy"].lossy == ""


def test_conditions_say_what_decides_the_speed(open_engine):
    found = open_engine("draft_target").conditions()
    assert found["backend"] == "tensorrt"
    assert (found["tensorrt_llm"], found["tensorrt"]) == ("1.2.1", "10.0")
    assert (found["cuda"], found["driver"]) == ("12.9", "580.65.06")
    assert found["gpus"] == ["NVIDIA H200"]
    assert found["worker_processes"] is True
    assert found["acceptance_counted_by"] == "trtspec"
    target, draft = found["engines"]["target"], found["engines"]["draft"]
    assert (target["speculative_decoding_mode"], target["max_draft_len"]) == (2, 6)
    assert target["kv_cache"]["block_reuse"] is True
    assert draft["devices"] == [0]


def test_conditions_say_when_the_engine_counts(open_engine):
    found = open_engine("medusa").conditions()
    assert found["acceptance_counted_by"] == "TensorRT-LLM"
    assert found["drafted_tokens_known"] is True
    assert found["worker_processes"] is False


def test_every_version_can_be_run(monkeypatch, tmp_path):
    for version in ("0.17.0", "0.20.0", "1.0.0", "1.2.1", "1.3.0rc20"):
        install(monkeypatch, version)
        opener = Opener(tmp_path)
        for method in ("none", "ngram", "draft_target", "medusa", "eagle", "lookahead"):
            done, _ = finish(opener(method, version=version), ask())
            assert done["r"].tokens == greedy_tokens()


def test_importing_the_runner_imports_nothing_heavy():
    code = (
        "import sys, trtspec.trtllm.engine.run\n"
        "heavy = {'torch', 'transformers', 'tensorrt_llm'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
