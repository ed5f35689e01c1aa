"""What a running training tells of itself, and to whom."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.fit.held_out import HeldOutResult

_FORGET = 0.95  # weight of the past in the figures that are shown


@dataclass(slots=True)
class Shown:
    """Figures of the running training.

    :param loss: smoothed.
    :param length: acceptance length along training answers, all places alike, smoothed.
    """

    step: int = 0
    steps: int = 0
    epoch: int = 0
    tokens: int = 0
    rate: float = 0.0
    loss: float = 0.0
    length: float = 0.0

    def smooth(self, loss: float, length: float) -> None:
        """Take in the figures of one step."""
        fresh = self.loss == 0.0
        for name, value in (("loss", loss), ("length", length)):
            past = value if fresh else getattr(self, name)
            setattr(self, name, _FORGET * past + (1 - _FORGET) * value)


class Listener:
    """Hears how a run goes; does nothing by itself."""

    def storing(self, tokens: int, total: int) -> None:
        """States of so many of the tokens are there."""

    def stepped(self, shown: Shown) -> None:
        """A step is done."""

    def measured(self, shown: Shown, result: HeldOutResult) -> None:
        """A measurement on held-out answers is done."""

    def decoded(self, prompts: int, result: HeldOutResult) -> None:
        """The reference engine has decoded held-out prompts with the drafter."""

    def resumed(self, shown: Shown) -> None:
        """The run goes on from where it was stored."""
