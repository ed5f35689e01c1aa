"""`fit_drafter.py eagle3` and its like: make the objective, run, say how it goes."""

from __future__ import annotations

import argparse

from trtspec.errors import UsageError
from trtspec.fit.command.kinds import make_objective
from trtspec.fit.command.screen import Screen
from trtspec.fit.plan import Plan
from trtspec.fit.schedule import Schedule
from trtspec.fit.session import Session
from trtspec.fit.settings import Settings
from trtspec.fit.target import load_target
from trtspec.reference.threads import use_threads

_POSITIVE = ("steps", "draft_length", "batch_tokens", "accumulate", "measure_every")


def run(options: argparse.Namespace) -> None:
    """Fit a drafter of the kind ``options.kind``."""
    for name in _POSITIVE:
        if getattr(options, name) < 1:
            flag = "--" + name.replace("_", "-")
            raise UsageError(
                str(getattr(options, name)), where=flag, allowed="1 and up"
            )
    if not 0 <= options.decay <= 1:
        raise UsageError(str(options.decay), where="--decay", allowed="0 to 1")
    threads = use_threads(options.threads)
    target = load_target(options.target, options.dtype, options.device)
    objective = make_objective(target, options)
    plan = Plan(
        options.work,
        options.out,
        options.states or options.work,
        options.answers,
        options.held_out,
        measure_every=options.measure_every,
        decode=options.decode,
        save_seconds=options.save_seconds,
        in_bfloat16=options.precision == "bfloat16",
    )
    settings = Settings(
        seed=options.seed,
        batch_tokens=options.batch_tokens,
        accumulate=options.accumulate,
        weight_decay=options.weight_decay,
    )
    schedule = Schedule(
        options.learning_rate, options.steps, options.warmup, options.decay
    )
    size = sum(p.numel() for p in objective.module.parameters() if p.requires_grad)
    with Screen() as screen:
        screen.say(f"{options.kind}: {size / 1e6:.2f} M weights, {threads} threads")
        Session(objective, plan, settings, schedule, screen).run()
        screen.say(f"the drafter is in {options.out}")
