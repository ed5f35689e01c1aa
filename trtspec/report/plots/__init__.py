"""What the report's plots show, and how each becomes an SVG that follows the theme."""

from __future__ import annotations

from trtspec.report.plots.bars import StackedBars, draw_bars
from trtspec.report.plots.dots import DotRows, draw_dots
from trtspec.report.plots.heat import HeatMap, draw_heat
from trtspec.report.plots.lines import LinePlot, draw_lines
from trtspec.report.plots.steps import StepPlot, draw_steps

Plot = LinePlot | StepPlot | StackedBars | DotRows | HeatMap


def draw(plot: Plot, name: str) -> str:
    """Give a plot as an SVG element.

    :param name: unique on the page; the ids of its title and description begin so.
    """
    if isinstance(plot, LinePlot):
        return draw_lines(plot, name)
    if isinstance(plot, StepPlot):
        return draw_steps(plot, name)
    if isinstance(plot, HeatMap):
        return draw_heat(plot, name)
    if isinstance(plot, DotRows):
        return draw_dots(plot, name)
    return draw_bars(plot, name)
