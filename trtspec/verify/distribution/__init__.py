"""Whether sampled output keeps its distribution: plan, statistics, controls, verdict.

``plan`` says how much is asked, ``collect`` asks it, ``symbols`` and ``cells`` make
tables of the answers, ``gtest``, ``permutation`` and ``discovery`` test them, ``power``
says what would have been found, ``judge`` gives the verdict. All but ``collect`` are
pure.
"""

from trtspec.verify.distribution.control import AtAnotherTemperature
from trtspec.verify.distribution.plan import Plan, make_plan
from trtspec.verify.distribution.result import DistributionResult
from trtspec.verify.distribution.run import distribution_test, evaluate

__all__ = [
    "AtAnotherTemperature",
    "DistributionResult",
    "Plan",
    "distribution_test",
    "evaluate",
    "make_plan",
]
