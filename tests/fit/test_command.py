"""The command line: from answers to a drafter, stopped and taken up again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.fit.toy_fit import toy_target
from trtspec.fit.command.main import main

ROOT = Path(__file__).parents[2]
QUICK = (
    *("--steps", "8", "--batch-tokens", "160", "--accumulate", "1"),
    *("--decode", "0"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, target):
    """Answers and held-out answers, written by the command itself."""
    folder = tmp_path_factory.mktemp("command")
    prompts = folder / "prompts.jsonl"
    prompts.write_text('{"prompt": "w4 w7", "category": "math"}\n{"prompt": "w9"}\n')
    given = ("--target", str(target.directory), "--dtype", "float32", "--threads", "1")
    short = ("--answer-tokens", "16", "--prompt-tokens", "20")
    for name, wanted in (
        ("answers", ("--own-turns", "12")),
        ("held-out", ("--prompts", str(prompts), "--temperatures", "0")),
    ):
        out = ("--out", str(folder / f"{name}.jsonl"))
        main(["answers", *given, *short, *wanted, *out])
    return folder


def command(folder, target, kind, work, *more):
    return [
        *(kind, "--target", str(target.directory), "--dtype", "float32"),
        *("--answers", str(folder / "answers.jsonl")),
        *("--held-out", str(folder / "held-out.jsonl")),
        *("--work", str(work), "--out", str(work / "drafter"), "--threads", "1"),
        *more,
    ]


def refused(arguments, capsys) -> str:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    return capsys.readouterr().err


def test_a_run_leaves_a_drafter_and_its_figures(tmp_path, folder, target, capsys):
    more = ("--draft-vocabulary", "40", "--draft-length", "2", *QUICK)
    main(
        command(
            folder,
            target,
            "eagle3",
            tmp_path,
            *more,
            "--measure-every",
            "4",
            "--decode",
            "9",
        )
    )
    told = capsys.readouterr().err
    assert "step 4, epoch 1" in told
    assert "acceptance length" in told
    tensors = load_file(tmp_path / "drafter" / "model.safetensors")
    assert {"fc.weight", "midlayer.hidden_norm.weight", "d2t", "t2d"} <= set(tensors)
    assert tensors["lm_head.weight"].shape == (40, 32)
    assert tensors["fc.weight"].dtype == torch.bfloat16
    config = json.loads((tmp_path / "drafter" / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLMEagle3"]
    assert config["draft_vocab_size"] == 40
    assert config["eagle_aux_hidden_state_layer_ids"] == [0, 1]
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["steps"] == 8
    assert "decoded by the reference engine, 2 held-out prompts" in told
    for way in ("held_out_estimate", "held_out_decoded"):
        assert set(figures[way]["sources"]) == {"math", "prompts"}


def test_an_interrupted_run_ends_like_one_that_was_not(tmp_path, folder, target):
    more = ("--steps", "24", "--save-seconds", "1000", *QUICK[2:])
    arguments = command(folder, target, "medusa", tmp_path / "cut", *more)
    script = [sys.executable, str(ROOT / "scripts/fit_drafter.py"), *arguments]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(script, env=alone, stderr=subprocess.PIPE)
    stored = tmp_path / "cut" / "states" / "states.json"
    while not stored.exists() and running.poll() is None:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode in (130, 0), told
    if running.returncode == 130:
        assert b"the same command goes on from here" in told
    main(arguments)
    main(command(folder, target, "medusa", tmp_path / "whole", *more))
    one, other = (
        load_file(tmp_path / name / "drafter" / "medusa_lm_head.safetensors")
        for name in ("cut", "whole")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_answers_of_another_target_are_refused(tmp_path, folder, capsys):
    other = toy_target(tmp_path / "other", seed=1)
    told = refused(command(folder, other, "medusa", tmp_path, *QUICK), capsys)
    assert "written by another target: its weights differ" in told


def test_a_draft_vocabulary_larger_than_the_targets_is_the_targets(
    tmp_path, folder, target
):
    more = ("--draft-vocabulary", "8192", "--layers", "0,1", *QUICK, "--steps", "1")
    main(command(folder, target, "eagle3", tmp_path, *more))
    tensors = load_file(tmp_path / "drafter" / "model.safetensors")
    assert tensors["lm_head.weight"].shape == (48, 32)


@pytest.mark.parametrize(
    ("kind", "option", "told"),
    [
        ("eagle3", ("--layers", "0,9"), "numbers from 0 to 1"),
        ("eagle3", ("--draft-vocabulary", "0"), "1 to 48, the target's tokens"),
        ("draft-model", ("--width", "33"), "multiples of 32 up to 32"),
        ("medusa", ("--steps", "0"), "--steps: 0"),
        ("medusa", ("--decay", "1.5"), "--decay: 1.5"),
        ("medusa", ("--held-out", "nowhere.jsonl"), "cannot be read"),
        ("medusa", ("--target", "nowhere"), "no model in safetensors"),
    ],
)
def test_what_cannot_be_is_refused(  # noqa: PLR0917
    tmp_path, folder, target, capsys, kind, option, told
):
    arguments = command(folder, target, kind, tmp_path, *QUICK, *option)
    assert told in refused(arguments, capsys)


def test_a_run_begun_with_other_settings_is_not_continued(
    tmp_path, folder, target, capsys
):
    main(command(folder, target, "medusa", tmp_path, *QUICK, "--steps", "2"))
    changed = command(folder, target, "medusa", tmp_path, *QUICK, "--seed", "5")
    assert "has seed 0, not 5" in refused(changed, capsys)


def test_a_head_can_be_trained_on(tmp_path, folder, target, capsys):
    more = ("--draft-vocabulary", "40", *QUICK, "--steps", "2")
    main(command(folder, target, "eagle3", tmp_path / "a", *more))
    begun = ("--begin-from", str(tmp_path / "a" / "drafter"))
    main(command(folder, target, "eagle3", tmp_path / "b", *QUICK, *begun))
    names = [tmp_path / name / "drafter" / "model.safetensors" for name in "ab"]
    one, other = map(load_file, names)
    assert torch.equal(one["d2t"], other["d2t"])
    assert not torch.equal(one["fc.weight"], other["fc.weight"])
    nothing = ("--begin-from", str(target.directory))
    again = command(folder, target, "eagle3", tmp_path / "c", *QUICK, *nothing)
    assert "no table d2t" in refused(again, capsys)


def test_nothing_to_answer_is_a_usage_error(tmp_path, target, capsys):
    given = ["answers", "--target", str(target.directory), "--dtype", "float32"]
    out = ["--out", str(tmp_path / "a.jsonl")]
    assert "nothing to answer" in refused([*given, *out], capsys)
    heat = ["--own-turns", "1", "--temperatures", "warm"]
    assert "--temperatures" in refused([*given, *out, *heat], capsys)
