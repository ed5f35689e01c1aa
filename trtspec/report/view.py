"""How a run looks to the sections of a report: its arms with colours, its loads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from trtspec.bench.arms import ArmInfo
from trtspec.bench.cells import Cell
from trtspec.bench.records import Load
from trtspec.bench.result import BenchResult, Plan
from trtspec.bench.rundir import BenchRun
from trtspec.bench.summary import Raw
from trtspec.report.plots.svg import Key


@dataclass(frozen=True)
class RunView:
    """A run as it was read back."""

    run: BenchRun

    @property
    def result(self) -> BenchResult:
        """What was computed."""
        return self.run.result

    @property
    def plan(self) -> Plan:
        """What was measured."""
        return self.run.result.plan

    @cached_property
    def keys(self) -> dict[str, Key]:
        """Each arm's name and colour: 0 for off, also again, from 1 for the others."""
        found: dict[str, Key] = {}
        candidates = 0
        for arm in self.plan.arms:
            if arm.role == "candidate":
                candidates += 1
            series = candidates if arm.role == "candidate" else 0
            found[arm.name] = Key(arm.name, series, arm.role == "control")
        return found

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One per load."""
        return self.result.cells

    @cached_property
    def measured(self) -> tuple[Cell, ...]:
        """The loads that have numbers."""
        return tuple(cell for cell in self.cells if cell.arms)

    @property
    def candidates(self) -> tuple[ArmInfo, ...]:
        """The arms that are compared with off."""
        return self.plan.candidates

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the arms that plots show: all but the control."""
        return tuple(arm.name for arm in self.plan.arms if arm.role != "control")

    def legend(self, names: tuple[str, ...] | None = None) -> tuple[Key, ...]:
        """Give the keys of arms, of all but the control if none are named."""
        return tuple(self.keys[name] for name in names or self.compared)

    def raw(self, load: Load) -> Raw:
        """Give the raw records that a load's numbers follow from."""
        arms = [arm.name for arm in self.plan.arms]
        return self.run.raw.under(load).whole_rounds(arms)

    def arms_of(self, cell: Cell) -> Iterator[str]:
        """Name the arms that a load has numbers of, without the control."""
        return (name for name in self.compared if name in cell.arms)
