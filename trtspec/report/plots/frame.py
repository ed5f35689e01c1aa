"""How axes are drawn: light grid lines, few ticks, titles that name the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trtspec.report.plots.scale import Scale
from trtspec.report.plots.svg import line, text

Ticks = Sequence[tuple[float, str]]
"""Values and what stands at them."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The paper of a plot with two axes; sizes in units of about a pixel."""

    width: float
    height: float
    left: float = 44
    right: float = 14
    top: float = 30
    bottom: float = 38

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return self.width, self.height

    @property
    def across(self) -> tuple[float, float]:
        """Coordinates of the left and right end of the x axis."""
        return self.left, self.width - self.right

    @property
    def upwards(self) -> tuple[float, float]:
        """Coordinates of the lower and upper end of the y axis."""
        return self.height - self.bottom, self.top

    def axes(
        self, x: Scale, y: Scale, ticks: tuple[Ticks, Ticks], titles: tuple[str, str]
    ) -> str:
        """Draw grid, ticks and titles.

        :param ticks: of the x axis and of the y axis.
        :param titles: below the x axis, and above all: what the plot shows.
        """
        left, right = self.across
        floor, ceiling = self.upwards
        parts = [
            part
            for value, label in ticks[1]
            for part in (
                line(left, y(value), right, y(value), "grid"),
                text(label, left - 7, y(value) + 3.8, "tick", "end"),
            )
        ]
        for value, label in ticks[0]:
            parts.append(line(x(value), floor, x(value), floor + 4, "axis"))
            parts.append(text(label, x(value), floor + 16, "tick", "middle"))
        parts.append(line(left, floor, right, floor, "axis"))
        parts.append(text(titles[0], right, floor + 31, "axis-title", "end"))
        parts.append(text(titles[1], 2, ceiling - 14, "label"))
        return "".join(parts)
