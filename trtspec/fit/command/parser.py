"""Which options `fit_drafter.py` has."""

from __future__ import annotations

import argparse
from pathlib import Path

from trtspec.fit.command import answers, texts, train

_KINDS = {
    "eagle3": "an EAGLE-3 head: one layer on three of the target's hidden states",
    "medusa": "Medusa heads on the target's last hidden state",
    "draft-model": "a small model of the target's kind, distilled",
    "mtp": "a next-token head, used again and again",
}


def parser() -> argparse.ArgumentParser:
    """Make the parser; a subcommand's function is at ``run``."""
    made = argparse.ArgumentParser(
        prog="fit_drafter.py",
        description="Fits a drafter to a target model, on the target's own answers.",
    )
    commands = made.add_subparsers(required=True, metavar="COMMAND")
    _answers(commands.add_parser("answers", help="let the target write answers"))
    _texts(commands.add_parser("texts", help="add answers that others have written"))
    for kind, text in _KINDS.items():
        _training(commands.add_parser(kind, help=f"fit {text}"), kind)
    return made


def _common(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--target", type=Path, required=True, help="directory of the target model")
    add("--dtype", default="bfloat16", choices=("bfloat16", "float32", "float16"))
    add("--device", default="cpu", help="a torch device, such as cuda:0")
    add("--threads", type=int, help="CPU threads; one per core if unset")
    add("--seed", type=int, default=0)
    add("--debug", action="store_true", help="show tracebacks")


def _answers(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    _common(command)
    add("--out", type=Path, required=True, help="file of answers; it is continued")
    add("--prompts", type=Path, action="append", default=[], help="JSONL; repeatable")
    add("--own-turns", type=int, default=0, help="prompts that the target writes, too")
    add("--temperatures", default="0,0,0,0.7", help="of the answers, taken in turn")
    add("--slots", type=int, default=48, help="conversations at once")
    add("--answer-tokens", type=int, default=256, help="most tokens of an answer")
    add("--prompt-tokens", type=int, default=1000, help="longer prompts are left out")
    command.set_defaults(run=answers.run)


def _texts(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--target", type=Path, required=True, help="directory of the target model")
    add("--out", type=Path, required=True, help="file of answers; it is continued")
    add(
        "--texts",
        type=Path,
        action="append",
        required=True,
        help='JSONL of prompts with "answer"; repeatable',
    )
    add("--answer-tokens", type=int, default=256, help="most tokens of an answer")
    add("--prompt-tokens", type=int, default=1000, help="longer prompts are left out")
    add("--debug", action="store_true", help="show tracebacks")
    command.set_defaults(run=texts.run)


def _training(command: argparse.ArgumentParser, kind: str) -> None:
    add = command.add_argument
    _common(command)
    add("--answers", type=Path, required=True, help="what to fit on")
    add("--held-out", type=Path, required=True, help="greedy answers to measure on")
    add("--work", type=Path, required=True, help="folder of the run; it is continued")
    add("--out", type=Path, required=True, help="folder of the drafter")
    add("--states", type=Path, help="of the target, may be shared; --work if unset")
    add("--begin-from", type=Path, help="a drafter of this kind and size")
    add("--steps", type=int, default=2000, help="of the run; may be raised later")
    add("--draft-length", type=int, default=4, help="tokens ahead to fit for")
    add("--learning-rate", type=float, default=1e-3)
    add("--warmup", type=int, default=50, help="steps until the full learning rate")
    add("--decay", type=float, default=0.3, help="share of steps in which it sinks")
    add("--batch-tokens", type=int, default=1024, help="through the drafter at once")
    add("--accumulate", type=int, default=2, help="batches of a step")
    add("--weight-decay", type=float, default=0.0)
    add("--measure-every", type=int, default=200, help="steps")
    add("--decode", type=int, default=26, help="held-out prompts decoded at the end")
    add("--save-seconds", type=float, default=300.0)
    add("--precision", default="bfloat16", choices=("bfloat16", "float32"))
    if kind == "eagle3":
        add("--layers", help="target layers to fuse; 3 of them by default")
        add("--draft-vocabulary", type=int, default=8192, help="tokens it can propose")
    if kind == "medusa":
        add("--residual-layers", type=int, default=1, help="of each head")
    if kind == "draft-model":
        add("--width", type=int, default=160, help="hidden size")
        add("--depth", type=int, default=4, help="decoder layers")
    if kind in ("medusa", "draft-model", "mtp"):
        add("--places", type=int, default=256, help="per batch that the loss looks at")
        add(
            "--compared",
            dest="draft_vocabulary",
            type=int,
            default=16384,
            help="most frequent tokens that the loss looks at",
        )
    command.set_defaults(run=train.run, kind=kind)
