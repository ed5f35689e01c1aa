"""What a person sees of a running training: a bar, and a line per measurement."""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from trtspec.fit.held_out import HeldOutResult
from trtspec.fit.listener import Listener, Shown

_LOG_SECONDS = 60.0


class Screen(Listener):
    """Shows a run on stderr."""

    def __init__(self) -> None:
        console = Console(stderr=True, soft_wrap=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
        )
        self._storing = self._progress.add_task("target states", visible=False)
        self._training = self._progress.add_task("training", visible=False)
        self._said = time.monotonic()

    def __enter__(self) -> Screen:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Print a line above the bars."""
        self._progress.console.print(text, highlight=False)

    def storing(self, tokens: int, total: int) -> None:
        """Move the bar of the target's states."""
        self._progress.update(
            self._storing, completed=tokens, total=total, visible=tokens < total
        )

    def stepped(self, shown: Shown) -> None:
        """Move the bar of the training."""
        self._progress.update(
            self._training,
            completed=shown.step,
            total=shown.steps,
            visible=True,
            description=f"training, loss {shown.loss:.3f}, "
            f"{shown.length:.2f} along training answers",
        )

        if not self._progress.console.is_terminal:
            self._say_now_and_then(shown)

    def resumed(self, shown: Shown) -> None:
        """Say that a stored run goes on."""
        self.say(f"going on from step {shown.step} in epoch {shown.epoch}")

    def measured(self, shown: Shown, result: HeldOutResult) -> None:
        """Print the figures of a measurement."""
        self.say(
            f"step {shown.step}, epoch {shown.epoch}, loss {shown.loss:.3f}: "
            f"acceptance length {result.mean:.3f} (estimate along held-out answers; "
            f"{_each(result)})"
        )

    def decoded(self, prompts: int, result: HeldOutResult) -> None:
        """Print what the reference engine has found."""
        self.say(
            f"acceptance length {result.mean:.3f} (decoded by the reference engine, "
            f"{prompts} held-out prompts; {_each(result)})"
        )

    def _say_now_and_then(self, shown: Shown) -> None:
        """In a log file there is no bar."""
        if time.monotonic() - self._said > _LOG_SECONDS:
            self._said = time.monotonic()
            self.say(
                f"step {shown.step}/{shown.steps}, epoch {shown.epoch}, loss "
                f"{shown.loss:.3f}, {shown.length:.2f} along training answers"
            )


def _each(result: HeldOutResult) -> str:
    return ", ".join(
        f"{source or 'prompts'} {walked.acceptance_length:.2f}"
        for source, walked in sorted(result.sources.items())
    )
