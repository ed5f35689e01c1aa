"""What takes a claim away: numbers that cannot mean what they seem to.

Each theme is a file with one function that looks at a comparison and yields what it
finds. A doubt that is fatal leaves no claim; one that is not is printed as a warning.
Thresholds are constants with their reason beside them, and lean towards silence: a
false alarm costs a user his result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trtspec.bench.cells import Doubt
from trtspec.bench.doubts.acceptance import acceptance_doubts
from trtspec.bench.doubts.baseline import baseline_doubts
from trtspec.bench.doubts.blocks import block_doubts
from trtspec.bench.doubts.degenerate import degenerate_doubts
from trtspec.bench.doubts.engines import engine_doubts
from trtspec.bench.doubts.forced import forced_doubts
from trtspec.bench.doubts.lateness import lateness_doubts
from trtspec.bench.doubts.lengths import length_doubts
from trtspec.bench.doubts.machine import machine_doubts
from trtspec.bench.doubts.outputs import output_doubts
from trtspec.bench.doubts.prompts import prompt_doubts
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

Look = Callable[[Plan, ArmData, ArmData], Iterator[Doubt]]

LOOKS: tuple[Look, ...] = (
    forced_doubts,
    engine_doubts,
    baseline_doubts,
    degenerate_doubts,
    acceptance_doubts,
    lateness_doubts,
    length_doubts,
    output_doubts,
    block_doubts,
    machine_doubts,
)


def doubts_of(plan: Plan, on: ArmData, off: ArmData) -> tuple[Doubt, ...]:
    """Give everything that speaks against one comparison, what is fatal first.

    What was seen in the prompts themselves is in the plan already.

    :param on: the arm that is compared.
    :param off: the baseline under the same load.
    """
    found = [*plan.prompts.doubts, *(d for look in LOOKS for d in look(plan, on, off))]
    return tuple(sorted(found, key=lambda doubt: not doubt.fatal))


__all__ = ["LOOKS", "doubts_of", "prompt_doubts"]
